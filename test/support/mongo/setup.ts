import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { findMongo } from "./find.js";
import type { Missing, TestServer } from "./server.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Address that gives the server which all test files share. */
    mongoAdminClient: string;
  }
}

/**
 * Starts one server for a whole run of Vitest when the first test file asks for it: most runs need none, and
 * starting one takes seconds.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<TestServer | Missing> | undefined;
  const adminClient = createServer(async (_, response) => {
    server ??= findMongo().then(announce);
    const found = await server.catch((error: Error) => ({ error: error.message }));
    response.end(JSON.stringify(found));
  });
  await once(adminClient.listen(0, "127.0.0.1"), "listening");
  project.provide("mongoAdminClient", `http://127.0.0.1:${(adminClient.address() as AddressInfo).port}`);
  return async () => {
    adminClient.close();
    const found = await server?.catch(() => undefined);
    if (found !== undefined && "stop" in found) await found.stop();
  };
}

function announce(found: TestServer | Missing): TestServer | Missing {
  console.log("uri" in found ? `MongoDB for the tests: ${found.kind}` : found.reason);
  return found;
}
