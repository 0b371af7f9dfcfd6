import { openTestMongo } from "./mongo/open.js";
import { newDataDir, type ServerOptions, startServer, type TestServer } from "./server.js";

/** A database of a test's own, on which servers can be started, several where it can be shared. */
export interface TestDatabase {
  start(env?: Readonly<Record<string, string>>): Promise<TestServer>;
}

export interface DatabaseKind {
  readonly name: string;
  /** Why it cannot be tested here. */
  readonly missing: string | undefined;
  /** Made in a test, not before: it costs nothing until then. */
  make(): Promise<TestDatabase>;
}

/** Asked for once, when a test file that needs it is read: its name says what is skipped, and why. */
const MONGO = await findMongo();

export const LOCAL_DATABASE: DatabaseKind = {
  name: "local",
  missing: undefined,
  make: async () => databaseOf({ dataDir: newDataDir() }),
};

export const MONGO_DATABASE: DatabaseKind = {
  name: MONGO.missing === undefined ? "mongo" : `mongo (${MONGO.missing})`,
  missing: MONGO.missing,
  make: async () => {
    const found = await openTestMongo();
    if (!("uri" in found)) throw new Error(found.reason);
    return databaseOf({ env: { MONGODB_URI: found.uri } });
  },
};

/** Both, for what must be the same on either. */
export const DATABASES = [LOCAL_DATABASE, MONGO_DATABASE];

function databaseOf(options: ServerOptions): TestDatabase {
  return { start: (env) => startServer({ ...options, env: { ...options.env, ...env } }) };
}

async function findMongo(): Promise<{ uri: string; missing: string | undefined }> {
  const found = await openTestMongo();
  return "uri" in found ? { uri: found.uri, missing: undefined } : { uri: "", missing: found.reason };
}
