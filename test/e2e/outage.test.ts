import { expect, it } from "vitest";
import { outage } from "../faults/outage.js";
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
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await server.stop();
    await database.stop();
  },
  TIMEOUT_MS,
);
