import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Door, doorsOf } from "../support/doors.js";
import { startServer, type TestServer } from "../support/server.js";

// Whole servers start here, on machines that may be busy with others.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

// The doors' names are needed before the server's port is known.
const DOORS = doorsOf("http://127.0.0.1:1").map(({ name }, n) => ({ name, n }));

let behindProxy: TestServer;
let direct: TestServer;
beforeAll(async () => {
  [behindProxy, direct] = await Promise.all([
    startServer({ env: { SIGNUPS_PER_HOUR: "2", TRUSTED_PROXIES: "127.0.0.0/8" } }),
    startServer({ env: { SIGNUPS_PER_HOUR: "10", SIGNUPS_PER_HOUR_TOTAL: "3" } }),
  ]);
});
afterAll(() => Promise.all([behindProxy.stop(), direct.stop()]));

const signUp = (door: Door, forwarded: string) =>
  door.call("SignUp", {}, { header: { "x-forwarded-for": forwarded } });

describe.each(DOORS)("through $name", ({ n }) => {
  const door = () => doorsOf(behindProxy.url)[n] as Door;

  it("an address may sign up twice here, and is told when it may again", async () => {
    const address = `198.51.100.${n}`;
    for (let time = 0; time < 2; time++) expect((await signUp(door(), address)).code).toBe("ok");
    const refused = await signUp(door(), address);
    expect(refused).toMatchObject({ code: "resource_exhausted", reason: "RATE_LIMITED" });
    expect(refused.message).toMatch(/^too many sign-ups from this address; try again in \d+ s$/);
    expect(Number(refused.header.get("retry-after"))).toBeGreaterThan(1700);
    if (refused.status !== undefined) expect(refused.status).toBe(429);
  });

  it("an invented address before the proxy's own word does not help", async () => {
    for (let time = 0; time < 3; time++) {
      expect((await signUp(door(), `203.0.113.${time}, 198.51.100.${n}`)).code).toBe("resource_exhausted");
    }
  });
});

it("who has a key is not held up", async () => {
  const door = doorsOf(behindProxy.url)[0] as Door;
  const { body } = await signUp(door, "192.0.2.1");
  const header = { "x-forwarded-for": "198.51.100.0" };
  for (let time = 0; time < 5; time++) {
    expect((await door.call("GetAccount", {}, { key: String(body.api_key), header })).code).toBe("ok");
  }
});

it("without trusted proxies no header makes another of a client, and all together have a limit", async () => {
  const door = doorsOf(direct.url)[0] as Door;
  for (let time = 0; time < 3; time++) expect((await signUp(door, `192.0.2.${time}`)).code).toBe("ok");
  const refused = await signUp(door, "192.0.2.9");
  expect(refused).toMatchObject({ code: "resource_exhausted", reason: "RATE_LIMITED" });
  expect(refused.message).toMatch(/at this time/);
});
