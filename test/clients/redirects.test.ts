import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Recalld } from "../../clients/typescript/src/index.js";
import { portOf } from "./proxy.js";

const opened: Server[] = [];
const elsewhere: IncomingMessage[] = [];
const asked: IncomingMessage[] = [];
let status = 307;
let recalld: Recalld;
let target: string;

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${portOf(server)}`;
}

beforeAll(async () => {
  target = await listen((request, response) => {
    elsewhere.push(request);
    response.end("{}");
  });
  const baseUrl = await listen((request, response) => {
    asked.push(request);
    response.writeHead(status, { location: `${target}${request.url}?token=private` }).end();
  });
  recalld = new Recalld({ apiKey: "rcl_secret", baseUrl });
});
afterAll(() => {
  for (const server of opened) server.close().closeAllConnections();
});

describe("a redirect", () => {
  const calls: Record<string, () => Promise<unknown>> = {
    store: () => recalld.store({ namespace: "ana", text: "private" }),
    recall: () => recalld.recall({ namespace: "ana", query: "private" }),
    watch: () => recalld.watch({ namespace: "ana" }).next(),
    export: () => recalld.export({ namespace: "ana" }).lines().next(),
  };

  for (const code of [301, 302, 303, 307, 308])
    test.each(Object.entries(calls))(`with ${code} is told and not followed: %s`, async (_, call) => {
      status = code;
      asked.length = 0;
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "RecalldError", code: "unknown", status: code, attempts: 1 });
      expect((error as Error).message).toContain(`redirects to ${target}/`);
      expect((error as Error).message).not.toContain("private");
      expect(asked).toHaveLength(1);
      expect(elsewhere).toHaveLength(0);
    });

  test("is told where the platform hides its target, as browsers do", async () => {
    const hidden = Object.assign(Response.error(), {});
    Object.defineProperty(hidden, "type", { value: "opaqueredirect" });
    const call = recalld.store({ namespace: "ana", text: "x" }, { fetch: async () => hidden });
    await expect(call).rejects.toThrow(/redirects elsewhere/);
  });
});
