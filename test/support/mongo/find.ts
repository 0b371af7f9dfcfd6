import { startMongod } from "./mongod.js";
import type { Missing, TestServer } from "./server.js";
import { startStandIn } from "./stand-in.js";

/**
 * Finds a MongoDB: the one that MONGODB_URI names, else a real mongod, else the stand-in. If there is none,
 * REQUIRE_MONGO=1 makes that an error: a check that must not be skipped unnoticed.
 */
export async function findMongo(env = process.env): Promise<TestServer | Missing> {
  if (env.MONGODB_URI) return { uri: env.MONGODB_URI, kind: "MONGODB_URI", stop: async () => {} };
  const reasons: string[] = [];
  for (const start of [startMongod, startStandIn]) {
    try {
      return await start();
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  const reason = `no MongoDB: MONGODB_URI is not set; ${reasons.join("; ")}`;
  if (env.REQUIRE_MONGO === "1") throw new Error(reason);
  return { reason };
}
