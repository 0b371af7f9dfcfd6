import { MongoClient, type MongoClientOptions } from "mongodb";
import { MemoryError } from "../../errors.js";
import type { Formats } from "../../memory/format/format.js";
import type { SystemRecords } from "../../memory/ports/plan.js";
import type { Storage } from "../storage.js";
import { MongoAccounts } from "./accounts.js";
import { MongoClaims } from "./claims.js";
import { MongoErasures } from "./erasures.js";
import { MongoFormats } from "./formats.js";
import { MongoLog } from "./log/log.js";
import { MongoRecent } from "./recent.js";
import { MongoSystemRecords } from "./system-records.js";
import { MongoUsage } from "./usage.js";
import { withTimeout } from "./with-timeout.js";

const DATABASE = "recalld";

export interface MongoOptions {
  readonly uri: string;
  /** Left out, a database that is not there is made. */
  readonly creates?: boolean | undefined;
}

/** How long a call waits for a server that can answer it, for a connection to it, for its answer. */
const SELECTION_TIMEOUT_MS = 4_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 4_000;
/** Connections come free quickly; a longer queue means that the database is overloaded. */
const QUEUE_TIMEOUT_MS = 2_000;
/** How long a write waits for the majority; then its outcome is unknown. */
const MAJORITY_TIMEOUT_MS = 4_000;

/**
 * What correctness stands on, whatever the connection string says: an answered write survives any
 * server's death, and a read sees every answered write. (`timeoutMS` would be one limit for all of a
 * call, but driver 7 ignores it.)
 */
const OPTIONS: MongoClientOptions = {
  appName: "recalld",
  writeConcern: { w: "majority", journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS },
  readConcern: { level: "majority" },
  readPreference: "primary",
  serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
  connectTimeoutMS: CONNECT_TIMEOUT_MS,
  socketTimeoutMS: SOCKET_TIMEOUT_MS,
  waitQueueTimeoutMS: QUEUE_TIMEOUT_MS,
};

/**
 * Opens a MongoDB database, which many processes may share: the one in the connection string's path,
 * else `recalld`.
 *
 * @throws MemoryError `failed_precondition` when the connection string is malformed, or when there is
 * no such database and none is to be made; `unavailable` when the database does not answer.
 */
export async function openMongo({ uri, creates = true }: MongoOptions): Promise<Storage> {
  const client = clientFor(uri);
  const db = client.db(databaseIn(uri) ?? DATABASE);
  const log = new MongoLog(db);
  const accounts = new MongoAccounts(db);
  const claims = new MongoClaims(db);
  const recent = new MongoRecent(db);
  const usage = new MongoUsage(db);
  const systemRecords = new MongoSystemRecords(db);
  const formats = new MongoFormats(db);
  try {
    await client.connect();
    // Before the indexes, which would make it.
    if (!creates) await expectMongo({ name: db.databaseName, systemRecords, formats });
    await Promise.all([log, accounts, claims, recent, usage].map((each) => each.createIndexes()));
  } catch (error) {
    await client.close();
    throw unreachable(error);
  }
  return {
    log,
    accounts,
    usage,
    systemRecords,
    formats,
    // Format 1 is the first there is.
    migrations: [],
    claims,
    erasures: new MongoErasures(db),
    recent,
    exclusive: false,
    check: async () => {
      await withTimeout(db.command({ ping: 1 }));
    },
    close: () => client.close(),
  };
}

/** MongoDB knows no database that is not there: what every database of ours says of itself tells it. */
async function expectMongo({
  name,
  systemRecords,
  formats,
}: {
  name: string;
  systemRecords: SystemRecords;
  formats: Formats;
}) {
  if ((await systemRecords.pinned()) !== undefined || (await formats.read()) !== undefined) return;
  throw new MemoryError("failed_precondition", `MONGODB_URI: the database ${name} holds nothing of recalld`);
}

function clientFor(uri: string): MongoClient {
  try {
    return new MongoClient(uri, OPTIONS);
  } catch (error) {
    // The driver quotes a malformed connection string, password and all.
    const reason = uri.includes("@") ? "check its form and its options" : (error as Error).message;
    throw new MemoryError("failed_precondition", `MONGODB_URI cannot be used: ${reason}`);
  }
}

function databaseIn(uri: string): string | undefined {
  const name = /^[^:]+:\/\/[^/?]+\/([^?]+)/.exec(uri)?.[1];
  return name && decodeURIComponent(name);
}

/** Says why, because this is read by an operator, before any caller is there. */
function unreachable(error: unknown): MemoryError {
  if (error instanceof MemoryError && error.code !== "unavailable") return error;
  const cause = error instanceof MemoryError ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MemoryError("unavailable", `MONGODB_URI: MongoDB does not answer: ${reason}`, { cause });
}
