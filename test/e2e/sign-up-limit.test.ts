import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// The protocols' names are needed before the server's port is known.
const PROTOCOLS = protocolsOf("http://127.0.0.1:1").map(({ name }, n) => ({ name, n }));

let behindProxy: TestServer;
let direct: TestServer;
beforeAll(async () => {
  [behindProxy, direct] = await Promise.all([
    startServer({ env: { SIGNUPS_PER_HOUR: "2", TRUSTED_PROXIES: "127.0.0.0/8" } }),
    startServer({ env: { SIGNUPS_PER_HOUR: "10", SIGNUPS_PER_HOUR_TOTAL: "3" } }),
  ]);
});
afterAll(() => Promise.all([behindProxy.stop(), direct.stop()]));

const signUp = (protocol: Protocol, forwarded: string) =>
  protocol.call("SignUp", {}, { header: { "x-forwarded-for": forwarded } });

describe.each(PROTOCOLS)("through $name", ({ n }) => {
  const protocol = () => protocolsOf(behindProxy.url)[n] as Protocol;

  it("an address may sign up twice here, and is told when it may again", async () => {
    const address = `198.51.100.${n}`;
    for (let time = 0; time < 2; time++) expect((await signUp(protocol(), address)).code).toBe("ok");
    const refused = await signUp(protocol(), address);
    expect(refused).toMatchObject({ code: "resource_exhausted", reason: "RATE_LIMITED" });
    expect(refused.message).toMatch(/^too many sign-ups from this address; try again in \d+ s$/);
    expect(Number(refused.header.get("retry-after"))).toBeGreaterThan(1700);
    if (refused.status !== undefined) expect(refused.status).toBe(429);
  });

  it("an invented address before the proxy's own word does not help", async () => {
    for (let time = 0; time < 3; time++) {
      expect((await signUp(protocol(), `203.0.113.${time}, 198.51.100.${n}`)).code).toBe(
        "resource_exhausted",
      );
    }
  });
});

it("who has a key is not held up", async () => {
  const protocol = protocolsOf(behindProxy.url)[0] as Protocol;
  const { body } = await signUp(protocol, "192.0.2.1");
  const header = { "x-forwarded-for": "198.51.100.0" };
  for (let time = 0; time < 5; time++) {
    expect((await protocol.call("GetAccount", {}, { key: String(body.api_key), header })).code).toBe("ok");
  }
});

it("without trusted proxies no header makes another of a client, and all together have a limit", async () => {
  const protocol = protocolsOf(direct.url)[0] as Protocol;
  for (let time = 0; time < 3; time++) expect((await signUp(protocol, `192.0.2.${time}`)).code).toBe("ok");
  const refused = await signUp(protocol, "192.0.2.9");
  expect(refused).toMatchObject({ code: "resource_exhausted", reason: "RATE_LIMITED" });
  expect(refused.message).toMatch(/at this time/);
});
