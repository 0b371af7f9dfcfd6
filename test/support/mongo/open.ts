import { randomBytes } from "node:crypto";
import { MongoClient } from "mongodb";
import { inject } from "vitest";
import { withDatabase } from "./database.js";
import type { Missing, TestServer } from "./server.js";

/**
 * Opens a new database on the server that all test files share; `stop` drops it. Without a server, it returns
 * the reason, for the name of a skipped test.
 *
 * @throws Error when there is none and REQUIRE_MONGO=1.
 */
export async function openTestMongo(): Promise<TestServer | Missing> {
  if (process.env.TEST_DATABASE === "local") return { reason: "`npm run test:all` has these" };
  const found = await ask();
  if ("error" in found) throw new Error(found.error);
  if ("reason" in found) return found;
  return newDatabase(found);
}

/** Opens a new database on a server; `stop` drops it. */
export function newDatabase({ uri: server, kind }: Pick<TestServer, "uri" | "kind">): TestServer {
  const uri = withDatabase(server, `recalld_test_${randomBytes(6).toString("hex")}`);
  return { uri, kind, stop: () => drop(uri) };
}

async function ask(): Promise<{ uri: string; kind: string } | Missing | { error: string }> {
  const response = await fetch(inject("mongoAdminClient"));
  return (await response.json()) as Awaited<ReturnType<typeof ask>>;
}

async function drop(uri: string): Promise<void> {
  const client = await MongoClient.connect(uri);
  await client.db().dropDatabase();
  await client.close();
}
