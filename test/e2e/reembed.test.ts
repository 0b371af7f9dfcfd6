import { describe, expect, it, vi } from "vitest";
import { changeModelUnderLoad } from "../faults/reembed.js";
import { openTestMongo } from "../support/mongo/open.js";
import { newDataDir, startServer } from "../support/server.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });

describe("changing the model under load", () => {
  it("fails no call, mixes no models and goes on after kill -9, on local", async () => {
    const dataDir = newDataDir();
    const figures = await changeModelUnderLoad({
      start: (env) => startServer({ dataDir, env }),
      replicas: 1,
      env: { DATA_DIR: dataDir },
      memories: 1500,
      killAt: 0.3,
      seed: 1,
    });
    expect(figures.kills).toBe(1);
    expect(figures.recalls).toBeGreaterThan(300);
  });
});

const mongo = await openTestMongo();
const skip = "reason" in mongo;
describe.skipIf(skip)(`on three replicas${skip ? ` (skipped: ${mongo.reason})` : ""}`, () => {
  it("fails no call and mixes no models", async () => {
    const env = { MONGODB_URI: "uri" in mongo ? mongo.uri : "" };
    const figures = await changeModelUnderLoad({
      start: (more) => startServer({ env: { ...env, ...more } }),
      replicas: 3,
      env,
      memories: 300,
      seed: 2,
    });
    expect(figures.recalls).toBeGreaterThan(300);
    if ("stop" in mongo) await mongo.stop();
  });
});
