import { MongoClient, type MongoClientOptions } from "mongodb";
import { MemoryError } from "../../errors.js";
import type { Formats } from "../../memory/format/format.js";
import type { SystemRecords } from "../../memory/ports/system-records.js";
import type { Storage } from "../storage.js";
import { MongoAccounts } from "./accounts.js";
import { MongoClaims } from "./claims.js";
import { MongoErasures } from "./erasures.js";
import { MongoFormats } from "./formats.js";
import { MongoLog } from "./log/log.js";
import { MongoGrants } from "./oauth/grants.js";
import { MongoRecent } from "./recent.js";
import { MongoSystemRecords } from "./system-records.js";
import { MongoUsage } from "./usage.js";
import { withTimeout } from "./with-timeout.js";

const DATABASE = "recalld";

export interface MongoOptions {
  readonly uri: string;
  /** Whether a missing database is created; true when left out. */
  readonly creates?: boolean | undefined;
}

/** Time limits of a call: for finding a server, for a connection to it, for its answer. */
const SELECTION_TIMEOUT_MS = 4_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 4_000;
/**
 * Time to wait for a free connection. They are used briefly, so a longer queue means that the database
 * is overloaded.
 */
const QUEUE_TIMEOUT_MS = 2_000;
/** Time that a write waits for the majority; after it the outcome is unknown. */
const MAJORITY_TIMEOUT_MS = 4_000;

/**
 * Options that correctness requires, whatever the connection string says: an answered write survives any
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
 * @throws MemoryError `failed_precondition` when the connection string is malformed, or when the
 * database does not exist and `creates` is false; `unavailable` when the database does not answer.
 */
export async function openMongo({ uri, creates = true }: MongoOptions): Promise<Storage> {
  const client = clientFor(uri);
  const db = client.db(databaseIn(uri) ?? DATABASE);
  const log = new MongoLog(db);
  const accounts = new MongoAccounts(db);
  const claims = new MongoClaims(db);
  const grants = new MongoGrants(db);
  const recent = new MongoRecent(db);
  const usage = new MongoUsage(db);
  const systemRecords = new MongoSystemRecords(db);
  const formats = new MongoFormats(db);
  try {
    await client.connect();
    // This check comes before the indexes, whose creation would create the database.
    if (!creates) await expectMongo({ name: db.databaseName, systemRecords, formats });
    await Promise.all([log, accounts, claims, grants, recent, usage].map((each) => each.createIndexes()));
  } catch (error) {
    await client.close();
    throw unreachable(error);
  }
  return {
    log,
    accounts,
    grants,
    usage,
    systemRecords,
    formats,
    // Format 1 is the first one.
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

/**
 * Expects that the database exists. MongoDB cannot tell, so the records that each of our databases has
 * decide.
 */
async function expectMongo({
  name,
  systemRecords,
  formats,
}: {
  name: string;
  systemRecords: SystemRecords;
  formats: Formats;
}) {
  if ((await systemRecords.models()).length > 0 || (await formats.read()) !== undefined) return;
  throw new MemoryError("failed_precondition", `MONGODB_URI: the database ${name} holds nothing of recalld`);
}

function clientFor(uri: string): MongoClient {
  try {
    return new MongoClient(uri, OPTIONS);
  } catch (error) {
    // The driver quotes a malformed connection string, including the password.
    const reason = uri.includes("@") ? "check its form and its options" : (error as Error).message;
    throw new MemoryError("failed_precondition", `MONGODB_URI cannot be used: ${reason}`);
  }
}

function databaseIn(uri: string): string | undefined {
  const name = /^[^:]+:\/\/[^/?]+\/([^?]+)/.exec(uri)?.[1];
  return name && decodeURIComponent(name);
}

/** Makes an error that gives the reason: an operator reads it, before there are callers. */
function unreachable(error: unknown): MemoryError {
  if (error instanceof MemoryError && error.code !== "unavailable") return error;
  const cause = error instanceof MemoryError ? error.cause : error;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new MemoryError("unavailable", `MONGODB_URI: MongoDB does not answer: ${reason}`, { cause });
}
