import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMongo } from "../../src/storage/mongo/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { raceReplaces } from "../faults/replaces.js";
import { openTestMongo } from "../support/mongo/open.js";
import { startServer, type TestServer } from "../support/server.js";

/** Number of stores. The long form is `npm run test:faults -- races`. */
const TIMES = 300;
const IDS = 100;
const TIMEOUT_MS = 210_000;
const FREE_CALLS = "1000000";

const found = await openTestMongo();
const name = "kind" in found ? found.kind : found.reason;

describe.skipIf("reason" in found)(`two servers over one MongoDB (${name})`, () => {
  let servers: TestServer[] = [];
  let storage: Storage;

  beforeAll(async () => {
    if (!("uri" in found)) return;
    storage = await openMongo({ uri: found.uri });
    const env = { MONGODB_URI: found.uri, FREE_CALLS };
    servers = await Promise.all([1, 2].map(() => startServer({ env })));
  }, TIMEOUT_MS);
  afterAll(async () => {
    for (const { stop } of servers) await stop();
    await storage?.close();
  });

  it(
    `lose none of ${TIMES} racing replacements of ${IDS} external ids`,
    async () => {
      const urls = servers.map(({ url }) => url);
      const raced = await raceReplaces({ urls, storage, times: TIMES, ids: IDS, seed: 1 });
      expect(raced).toEqual({ versions: TIMES });
    },
    TIMEOUT_MS,
  );
});
