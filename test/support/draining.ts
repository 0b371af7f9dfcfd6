import { afterEach, expect } from "vitest";
import { startServer, type TestServer } from "./server.js";

/** Time that a busy machine may take for something that takes no time. */
export const SLACK_MS = 8_000;

export const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});
export async function start(env: Record<string, string>, dataDir?: string): Promise<TestServer> {
  const server = await startServer({ env, ...(dataDir !== undefined && { dataDir }) });
  await expect.poll(() => statusOf(server, "/readyz"), { timeout: 30_000 }).toBe(200);
  servers.push(server);
  return server;
}

export const statusOf = async ({ url }: TestServer, path: string) => (await fetch(url + path)).status;

export async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const begunMs = performance.now();
  return { value: await work, ms: performance.now() - begunMs };
}
