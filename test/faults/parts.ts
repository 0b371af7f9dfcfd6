import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { openMongo } from "../../src/storage/mongo/open.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import { LOCAL_CHARGES_LAG_MS, newDataDir, startServer } from "../support/server.js";
import { changeModelWhileAsleep } from "./asleep.js";
import { backUpUnderLoad } from "./backup.js";
import { count, seconds, total } from "./figures.js";
import { callByForeignTools } from "./foreign/part.js";
import { type KillFigures, killUnderLoad } from "./kills.js";
import { floodPart, largestPart, rollingPart } from "./load-parts.js";
import { FREE_CALLS, inRuns, onMongo, REPLICAS, RUN_MAX } from "./on-mongo.js";
import { outage } from "./outage.js";
import { changeModelUnderLoad } from "./reembed.js";
import { raceReplaces } from "./replaces.js";
import { retryStores, storeHereRecallThere } from "./replicas.js";
import { randomSequences } from "./sequences/run.js";
import { shareFolder } from "./sessions.js";
import { type Name, SIZES } from "./sizes.js";

/** Each part's work: given its size and a seed, it resolves with a sentence that says what was done. */
export const PARTS: Record<Name, (size: number, seed: number) => Promise<string>> = {
  async simulator(size) {
    const cores = availableParallelism();
    const each = Math.ceil(size / cores);
    const simulated = Array.from({ length: cores }, (_, core) =>
      vitest(
        "test/simulation/simulation.test.ts",
        { SIMULATED_SCHEDULES: each, SIMULATED_FIRST: 1 + core * each },
        "",
      ),
    );
    await allEnded([...simulated, vitest("test/simulation/planted.test.ts", {}, "")]);
    return `${count(cores * each)} schedules, 3 replicas, 0 faults; every planted mistake found`;
  },

  async kills(size, seed) {
    const half = Math.ceil(size / 2);
    // A start waits for the disk more than for the processor.
    const done = await allEnded(
      [newDataDir(), newDataDir()].map((dataDir, i) =>
        killUnderLoad({
          start: (env) => startServer({ dataDir, env }),
          chargesLagMs: LOCAL_CHARGES_LAG_MS,
          kills: half,
          storesBefore: (chance) => 1 + chance.below(60),
          // Some accounts reach their limit before the kill, some do not.
          callsLimit: 25,
          seed: seed + i,
        }),
      ),
    );
    const sum = (field: keyof KillFigures) => total(done.map((figures) => figures[field]));
    return (
      `${sum("kills")} kills -9 of two servers: ${count(sum("acknowledged"))} stores acknowledged, 0 lost; ` +
      `${count(sum("unanswered"))} calls in flight, ${count(sum("paidUnanswered"))} of them paid; no limit passed`
    );
  },

  async replicas(size, seed) {
    const done = await inRuns(size, seed, (urls, times, seed) => storeHereRecallThere({ urls, times, seed }));
    const stored = total(done.map((each) => each.stored));
    return `${count(stored)} stored on one of ${REPLICAS}, recalled on another: 0 missed`;
  },

  async retries(size, seed) {
    const done = await inRuns(size, seed, (urls, times, seed) => retryStores({ urls, times, seed }));
    const sum = (field: "replayed" | "unavailable" | "used") => count(total(done.map((each) => each[field])));
    return (
      `${count(size)} keys on ${REPLICAS} servers, ${sum("replayed")} retries, ${sum("unavailable")} calls ` +
      `unavailable: 0 duplicates, ${sum("used")} paid`
    );
  },

  async races(size, seed) {
    const done = await inRuns(size, seed, async (urls, times, seed, uri) => {
      const storage = await openMongo({ uri });
      try {
        return await raceReplaces({ urls, storage, times, ids: 100, seed });
      } finally {
        await storage.close();
      }
    });
    const versions = total(done.map((each) => each.versions));
    return `${count(versions)} racing replacements of 100 external ids on ${REPLICAS} servers: 0 lost, 0 ids with two memories`;
  },

  async watching(size) {
    // The stand-in slows down as it grows, so that each run has a new one.
    const runs = Math.ceil(size / RUN_MAX);
    for (let i = 0; i < runs; i++) {
      await vitest("test/e2e/watching.test.ts", { WATCHED_CHANGES: Math.min(size, RUN_MAX) }, "");
    }
    return `${count(size)} changes in ${runs} runs, each over a restart: each seen once and in order`;
  },

  moving: (size) =>
    vitest(
      "test/e2e/moving.test.ts",
      { MOVED_MEMORIES: size },
      `${count(size)} memories exported under load, imported over a kill -9: identical by verify and by recalls`,
    ),

  async sessions(size, seed) {
    const { stored, recalled, kills, unanswered } = await shareFolder({ calls: size, seed });
    return (
      `4 processes of recalld mcp on one folder, ${kills} kills -9, the one that served among them: ` +
      `${count(stored)} stored, ${count(recalled)} recalled, ${unanswered} calls of the killed unanswered; ` +
      "0 lost, 0 errors"
    );
  },

  async sequences(size, seed) {
    const half = Math.ceil(size / 2);
    const onLocal = async () => {
      const { url, kill } = await startServer({ env: { FREE_CALLS } });
      return randomSequences({ urls: [url], sequences: half, seed }).finally(kill);
    };
    const onReplicas = () =>
      inRuns(half, seed + 1, (urls, sequences, seed) => randomSequences({ urls, sequences, seed }));
    const done = (await allEnded([onLocal().then((alone) => [alone]), onReplicas()])).flat();
    const operations = total(done.map((each) => each.operations));
    const recalls = total(done.map((each) => each.recalls));
    return (
      `${count(half)} on local, ${count(half)} on ${REPLICAS} servers: ` +
      `${count(operations)} operations, ${count(recalls)} recalls, 0 leaks`
    );
  },

  async outage(size, seed) {
    const database = await startStandIn();
    const server = await startServer({ env: { MONGODB_URI: `${database.uri}/recalld`, FREE_CALLS } });
    try {
      const figures = await outage({ url: server.url, database, awayMs: size, seed });
      return (
        `${size / 1000} s without MongoDB: ${count(figures.acknowledged)} stores acknowledged, 0 lost; ` +
        `${count(figures.refused)} calls refused, the slowest call took ${seconds(figures.slowestMs)}; ` +
        `back after ${seconds(figures.recoveryMs)}`
      );
    } finally {
      await server.kill();
      await database.stop();
    }
  },

  async reembed(size, seed) {
    const dataDir = newDataDir();
    const figures = await changeModelUnderLoad({
      start: (env) => startServer({ dataDir, env }),
      replicas: 1,
      env: { DATA_DIR: dataDir },
      memories: size,
      killAt: 0.5,
      seed,
    });
    const { calls, recalls, tookMs } = figures;
    return (
      `${count(size)} memories got another model in ${seconds(tookMs)}, with one kill -9: ${count(calls)} calls, ` +
      `0 failed; ${count(recalls)} recalls, 0 with mixed models`
    );
  },

  async asleep(size, seed) {
    const long = size >= SIZES.asleep.long;
    const figures = await onMongo((MONGODB_URI) =>
      changeModelWhileAsleep({
        start: (env) => startServer({ env, until: "listening" }),
        open: () => openMongo({ uri: MONGODB_URI }),
        replicas: REPLICAS,
        env: { MONGODB_URI },
        memories: size,
        asleepMs: long ? { min: 5_000, max: 90_000 } : { min: 500, max: 8_000 },
        seed,
      }),
    );
    const { stops, kills, answered, unanswered, kept, forgotten, tookMs } = figures;
    return (
      `${count(size)} memories on ${REPLICAS} replicas got another model in ${seconds(tookMs)} beside ${stops} stops ` +
      `of a process and ${kills} kills -9: ${count(answered)} calls answered, ${count(unanswered)} not; ` +
      `${count(kept)} acknowledged, 0 lost; ${count(forgotten)} forgotten, 0 brought back; 0 recalls with mixed models`
    );
  },

  async backup(size, seed) {
    const { memories, forgotten, meanwhile, bytes, ms } = await backUpUnderLoad({ memories: size, seed });
    return (
      `a backup of ${count(bytes)} bytes in ${seconds(ms)}, ${count(meanwhile)} stores meanwhile: restored, ` +
      `${count(memories)} acknowledged before, 0 missing; ${count(forgotten)} forgotten before, 0 there`
    );
  },

  rolling: rollingPart,
  largest: largestPart,
  flood: floodPart,

  foreign: (examples, seed) => callByForeignTools({ examples, seed }),

  snapshots: (size) =>
    vitest(
      "test/index/vectors",
      { DAMAGED_SNAPSHOTS: size },
      `${count(size)} damaged snapshots: 0 crashes, 0 wrong answers`,
    ),
};

/** Resolves with all results; rejects only when all have ended, so that nothing runs on beside the next part. */
async function allEnded<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** Runs a part that is also a test and reads its size from the environment. */
function vitest(path: string, env: Record<string, number>, done: string): Promise<string> {
  const set = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  const child = spawn("npx", ["vitest", "run", path], {
    // Without it, a file of several projects cannot run: they would have different numbers of workers.
    env: { ...process.env, BUILDS_BESIDE: "1", ...set },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once("close", (code) => (code === 0 ? resolve(done) : reject(new Error(output.slice(-3000)))));
  });
}
