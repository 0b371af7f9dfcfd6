import { openTestMongo } from "./mongo/open.js";
import { newDataDir, type ServerOptions, startServer, type TestServer } from "./server.js";

/** A test's own database. Servers can be started on it, several of them if it can be shared. */
export interface TestDatabase {
  start(env?: Readonly<Record<string, string>>): Promise<TestServer>;
  /** Time before a kill -9 of which the charges of recalls may be undone. */
  readonly chargesBehindMs: number;
}

/** The most that the embedded database promises; it is a few milliseconds while its disk is well. */
export const LOCAL_CHARGES_BEHIND_MS = 100;

export interface DatabaseKind {
  readonly name: string;
  /** Reason why it cannot be tested here. */
  readonly missing: string | undefined;
  /** Makes the database in a test, so that it costs nothing before. */
  make(): Promise<TestDatabase>;
}

/**
 * Server found when a test file that needs it is loaded, because the name of a skipped test gives the reason.
 */
const MONGO = await findMongo();

export const LOCAL_DATABASE: DatabaseKind = {
  name: "local",
  missing: undefined,
  make: async () => databaseOf({ dataDir: newDataDir() }, LOCAL_CHARGES_BEHIND_MS),
};

export const MONGO_DATABASE: DatabaseKind = {
  name: MONGO.missing === undefined ? "mongo" : `mongo (${MONGO.missing})`,
  missing: MONGO.missing,
  make: async () => {
    const found = await openTestMongo();
    if (!("uri" in found)) throw new Error(found.reason);
    return databaseOf({ env: { MONGODB_URI: found.uri } }, 0);
  },
};

/** Both databases, for tests whose result must be the same on either. */
export const DATABASES = [LOCAL_DATABASE, MONGO_DATABASE];

function databaseOf(options: ServerOptions, chargesBehindMs: number): TestDatabase {
  return { start: (env) => startServer({ ...options, env: { ...options.env, ...env } }), chargesBehindMs };
}

async function findMongo(): Promise<{ uri: string; missing: string | undefined }> {
  const found = await openTestMongo();
  return "uri" in found ? { uri: found.uri, missing: undefined } : { uri: "", missing: found.reason };
}
