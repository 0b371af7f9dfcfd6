import { beforeAll, describe, expect, it } from "vitest";
import { askEveryday, readEveryday } from "../../eval/everyday-recall.js";
import { sharedServer, type TestServer } from "../support/server.js";

// A session starts a process, beside all other tests.
const TIMEOUT_MS = 180_000;

/** Facts and other memories of the evaluation; `npm run eval -- everyday` asks about all. */
const FACTS = 5;
const OTHERS = 30;

describe("everyday facts and indirect questions", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await sharedServer();
  }, 60_000);

  it(
    "have the same answers by memory_recall over HTTP and stdio as by a recall of the API without a floor",
    async () => {
      const { facts, others } = readEveryday();
      const some = { facts: facts.slice(0, FACTS), others: others.slice(0, OTHERS) };
      const answers = await askEveryday(server, some);
      expect(answers).toHaveLength(FACTS);
      for (const { found } of answers) {
        const [byHttp, byStdio, byApi] = found;
        expect(byHttp).toHaveLength(5);
        expect(byHttp).toEqual(byApi);
        expect(byStdio).toEqual(byApi);
      }
    },
    TIMEOUT_MS,
  );
});
