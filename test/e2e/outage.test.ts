import { expect, it, vi } from "vitest";
import { outage } from "../faults/outage.js";
import { signUp } from "../support/caller.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import { startServer } from "../support/server.js";

/** Duration of the outage. The long form (`npm run test:faults`) makes it a minute. */
const AWAY_MS = 5_000;
const TIMEOUT_MS = 90_000;

it.skipIf(MONGO_DATABASE.missing !== undefined)(
  `loses nothing and comes back when its database is away for ${AWAY_MS / 1000} s (a stand-in of its own)`,
  async () => {
    const database = await startStandIn();
    const server = await startServer({ env: { MONGODB_URI: database.uri, FREE_CALLS: "1000000" } });
    const figures = await outage({ url: server.url, database, awayMs: AWAY_MS, seed: 1 });
    expect(figures.refused).toBeGreaterThan(0);
    expect(figures.acknowledged).toBeGreaterThan(0);
    const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
    expect(await readiness()).toBe(200);
    const { call } = await signUp(server.url);
    await database.stop();
    await vi.waitFor(async () => expect(await readiness()).toBe(503), { timeout: 20_000, interval: 50 });
    // Nobody waits any more for a database that is known to be away.
    const others = ["GET /account", "GET /keys", "GET /usage", "GET /calls", "POST /signup", "POST /session"];
    for (const path of others) {
      const begunMs = performance.now();
      const { code, message } = await call(path, path.startsWith("POST") ? { body: {} } : {});
      expect([code, message]).toEqual(["unavailable", "the database is away"]);
      expect(performance.now() - begunMs).toBeLessThan(1_000);
    }
    await server.kill();
  },
  TIMEOUT_MS,
);
