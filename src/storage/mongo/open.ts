import {
  type CreateIndexesOptions,
  type Db,
  type DbOptions,
  type IndexSpecification,
  MongoClient,
  type MongoClientOptions,
  ReadConcern,
} from "mongodb";
import { failedPrecondition, MemoryError, messageOf, unavailable } from "../../errors.js";
import { openSystemRecords } from "../../memory/ports/model-version.js";
import { openNames } from "../../memory/ports/names.js";
import { expectOurFormat, type Format, OUR_FORMAT } from "../format.js";
import type { Storage } from "../storage.js";
import { MongoAccounts } from "./accounts.js";
import { MongoCalls, MongoUsage } from "./calls.js";
import { findOrInsert, withTimeout } from "./driver.js";
import { COUNT_INDEX, MongoLog } from "./log/log.js";
import type { EntryRecord } from "./log/record.js";
import { MongoSecondaryIndexes } from "./log/secondary-indexes.js";
import { MongoRecords } from "./records.js";

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
 * Concerns that correctness requires, whatever the connection string says: an answered write survives any server's
 * death, and a read sees every answered write. They are options of the database, because those of the client yield to
 * some of the connection string's, such as `readConcernLevel` and `journal`.
 */
const CONCERNS: DbOptions = {
  writeConcern: { w: "majority", journal: true, wtimeoutMS: MAJORITY_TIMEOUT_MS },
  readConcern: new ReadConcern("majority"),
  readPreference: "primary",
};

/** Options of the connections. (`timeoutMS` would be one limit for all of a call, but driver 7 ignores it.) */
const OPTIONS: MongoClientOptions = {
  appName: "recalld",
  serverSelectionTimeoutMS: SELECTION_TIMEOUT_MS,
  connectTimeoutMS: CONNECT_TIMEOUT_MS,
  socketTimeoutMS: SOCKET_TIMEOUT_MS,
  waitQueueTimeoutMS: QUEUE_TIMEOUT_MS,
};

/** An index of the documents alone that have a field. */
const having = (field: string) => ({ partialFilterExpression: { [field]: { $exists: true } } });

/** Indexes of all collections. Where one expires, MongoDB removes the documents by itself. */
const INDEXES: readonly [collection: string, key: IndexSpecification, options?: CreateIndexesOptions][] = [
  ["log", { id: 1, _id: -1 }],
  ["log", { follows: 1, _id: -1 }, having("follows")],
  ["log", { externalId: 1, _id: -1 }, having("externalId")],
  ["log", { operation: 1, _id: -1 }, having("operation")],
  ["log", { supersedesOrExpires: 1, _id: -1 }, having("supersedesOrExpires")],
  ["log", { expiresAtMs: 1, _id: 1 }, having("expiresAtMs")],
  ["log", { unerased: 1, _id: 1 }, having("unerased")],
  ["log", COUNT_INDEX],
  ["namespaces", { logId: 1 }],
  ["namespaces", { usedAtMs: -1 }],
  ["accounts", { "keys.hash": 1 }],
  ["accounts", { "keys.sessions.hash": 1 }],
  ["claims", { expiresAt: 1 }, { expireAfterSeconds: 0 }],
  ["grants", { keptUntil: 1 }, { expireAfterSeconds: 0 }],
  ["usage", { expiresAt: 1 }, { expireAfterSeconds: 0 }],
];

/**
 * Opens a MongoDB database, which many processes may share: the one in the connection string's path,
 * else `recalld`.
 *
 * @throws MemoryError `failed_precondition` when the connection string is malformed, or when the
 * database is of another format, or does not exist and `creates` is false; `unavailable` when the database does not answer.
 */
export async function openMongo({ uri, creates = true }: MongoOptions): Promise<Storage> {
  const { client, db } = clientOf(uri);
  try {
    await client.connect();
    // This check comes before the indexes, whose creation would create the database.
    await checkFormat(db, { creates });
    for (const [name, key, options] of INDEXES) await db.collection(name).createIndex(key, options);
  } catch (error) {
    await client.close();
    throw unreachable(error);
  }
  const entries = db.collection<EntryRecord>("log");
  return {
    log: new MongoLog(entries),
    names: openNames(new MongoRecords(db.collection("namespaces"))),
    secondaryIndexes: new MongoSecondaryIndexes(entries),
    accounts: new MongoAccounts(db),
    grants: new MongoRecords(db.collection("grants"), "keptUntil"),
    grantSecrets: new MongoRecords(db.collection("grant_secrets")),
    usage: new MongoUsage(db.collection("usage")),
    calls: new MongoCalls(db.collection("calls")),
    systemRecords: openSystemRecords(new MongoRecords(db.collection("meta"))),
    claims: new MongoRecords(db.collection("claims"), "expiresAt"),
    erasures: new MongoRecords(db.collection("erasures")),
    exclusive: false,
    ...connectionOf({ client, db }),
  };
}

/** Time without an answer after which all connections are opened anew. */
const ANEW_MS = 15_000;

/**
 * Watches and closes the connection to a database. If that does not answer for some time, all is opened anew: the driver
 * waits for ever for a socket that was destroyed under a write, and never connects again if that was its monitor's.
 */
export function connectionOf(
  { client, db }: ReturnType<typeof clientOf>,
  nowMs = () => performance.now(),
): Pick<Storage, "check" | "close"> {
  let answeredMs = nowMs();
  let opening: Promise<unknown> | undefined;
  let isClosing = false;
  const openAnew = async () => {
    await client.close();
    if (!isClosing) await client.connect();
  };
  return {
    check: async () => {
      try {
        await withTimeout(db.command({ ping: 1 }));
        answeredMs = nowMs();
      } catch (error) {
        // If it fails, the database is still away, and the next check tries again.
        if (nowMs() - answeredMs > ANEW_MS) {
          opening ??= openAnew()
            .catch(() => {})
            .finally(() => {
              opening = undefined;
            });
        }
        throw error;
      }
    },
    close: async () => {
      isClosing = true;
      await opening;
      await client.close();
    },
  };
}

/**
 * Expects the format of this program, and gives it to a new database before anything else is written. Of
 * several processes that create one at once, all read what the first has written.
 */
async function checkFormat(db: Db, { creates }: { creates: boolean }): Promise<void> {
  const meta = db.collection<Format & { readonly _id: string }>("meta");
  const _id = "format";
  const first = (name: string) => db.collection(name).findOne({}, { projection: { _id: 1 } });
  const found = await withTimeout(Promise.all(["meta", "accounts", "namespaces"].map(first)));
  const isNew = found.every((each) => each === null);
  if (isNew && !creates) {
    const message = `MONGODB_URI: the database ${db.databaseName} holds nothing of recalld`;
    throw failedPrecondition(message);
  }
  const finding = isNew ? findOrInsert(meta, { _id, ...OUR_FORMAT }) : meta.findOne({ _id });
  expectOurFormat(
    `the database ${db.databaseName} of MONGODB_URI`,
    await withTimeout<Format | null>(finding),
  );
}

/** Makes a client, which connects later, and its database. */
export function clientOf(uri: string): { client: MongoClient; db: Db } {
  try {
    const client = new MongoClient(uri, OPTIONS);
    return { client, db: client.db(databaseIn(uri) ?? DATABASE, CONCERNS) };
  } catch (error) {
    // The driver quotes a malformed connection string, including the password.
    const reason = uri.includes("@") ? "check its form and its options" : (error as Error).message;
    throw failedPrecondition(`MONGODB_URI cannot be used: ${reason}`);
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
  return unavailable(`MONGODB_URI: MongoDB does not answer: ${messageOf(cause)}`, cause);
}
