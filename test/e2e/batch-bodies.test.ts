import { beforeAll, expect, it, vi } from "vitest";
import { accountAt, type Protocol, protocolsOf } from "../support/protocols.js";
import { QUICK, quickly } from "../support/quick.js";
import { sharedServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

const NAMES = protocolsOf("http://127.0.0.1:1").map(({ name }) => name);
/** The quick tests send the largest batches by two protocols, and the others by the rest. */
const PROTOCOLS = NAMES.filter((name) => QUICK === (name === "plain paths" || name === "gRPC"));

let server: TestServer;
beforeAll(async () => {
  server = await sharedServer();
});

it.each(PROTOCOLS)("batches may have 8 MiB of body, through %s", async (name) => {
  const protocol = protocolsOf(server.url).find((each) => each.name === name) as Protocol;
  const { call, used, count } = await accountAt(protocol);
  const metadata = { a: "x".repeat(16_000) };
  const memories = Array.from({ length: 256 }, (_, i) => ({
    text: `${i}. ${" ".repeat(14_000)}end`,
    metadata,
  }));
  const outcome = await call("StoreBatch", { namespace: "n", memories });
  expect([outcome.code, outcome.message]).toEqual(["ok", ""]);
  expect([await used(), await count("n")]).toEqual([256, 256]);
  const larger = memories.map((each) => ({ ...each, text: `${each.text}${" ".repeat(3_000)}end` }));
  const refused = await call("StoreBatch", { namespace: "n", memories: larger });
  expect(refused).toMatchObject({ code: "resource_exhausted", reason: "BODY_TOO_LARGE" });
  // gRPC counts its envelope too.
  expect(refused.message).toMatch(/8,388,6(08|13) bytes/);
  expect(await used()).toBe(256);
});

quickly("batches have a body limit of their own: other calls keep theirs", async () => {
  const protocol = protocolsOf(server.url)[0] as Protocol;
  const { call } = await accountAt(protocol);
  const large = { namespace: "n", text: "a", metadata: { a: "x".repeat(1_100_000) } };
  expect(await call("Store", large)).toMatchObject({
    code: "resource_exhausted",
    reason: "BODY_TOO_LARGE",
  });
});
