import { openTestMongo } from "./mongo/open.js";
import {
  LOCAL_CHARGES_LAG_MS,
  newDataDir,
  type ServerOptions,
  startServer,
  type TestServer,
} from "./server.js";

/** A test's own database. Servers can be started on it, several of them if it can be shared. */
export interface TestDatabase {
  start(env?: Readonly<Record<string, string>>): Promise<TestServer>;
  /** Settings of a command that works on it while no server does. */
  readonly env: Readonly<Record<string, string>>;
  /** Time before a kill -9 of which the charges of recalls may be undone. */
  readonly chargesLagMs: number;
}

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
  missing: process.env.TEST_DATABASE === "mongo" ? "`npm test` has these" : undefined,
  make: async () => databaseOf({ dataDir: newDataDir() }, LOCAL_CHARGES_LAG_MS),
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

function databaseOf(options: ServerOptions, chargesLagMs: number): TestDatabase {
  const { dataDir } = options;
  return {
    start: (env) => startServer({ ...options, env: { ...options.env, ...env } }),
    env: { ...options.env, ...(dataDir !== undefined && { DATA_DIR: dataDir }) },
    chargesLagMs,
  };
}

async function findMongo(): Promise<{ uri: string; missing: string | undefined }> {
  const found = await openTestMongo();
  return "uri" in found ? { uri: found.uri, missing: undefined } : { uri: "", missing: found.reason };
}
