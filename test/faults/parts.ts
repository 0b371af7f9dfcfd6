import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { envoy, haproxy } from "../support/balancer.js";
import { withDatabase } from "../support/mongo/database.js";
import { findMongo } from "../support/mongo/find.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";
import { changeModelWhileAsleep } from "./asleep.js";
import { backUpUnderLoad } from "./backup.js";
import { crowd, floodOneKey, TIMES } from "./flood.js";
import { connectionProblemsOf, keyProblemsOf, memoryRatioOf, problemsOf, tableOf } from "./flood-report.js";
import { callByForeignTools } from "./foreign/part.js";
import { killUnderLoad } from "./kills.js";
import { largest } from "./largest.js";
import { outage } from "./outage.js";
import { changeModelUnderLoad } from "./reembed.js";
import { retryStores, storeHereRecallThere } from "./replicas.js";
import { rollUnderLoad } from "./rolling.js";
import { randomSequences } from "./sequences.js";

/** How often each part is done: `long` is what is promised, `short` shows that the part itself works. */
const SIZES = {
  simulator: { long: 100_000, short: 2_000 },
  kills: { long: 300, short: 10 },
  replicas: { long: 10_000, short: 300 },
  retries: { long: 10_000, short: 300 },
  sequences: { long: 10_000, short: 300 },
  outage: { long: 60_000, short: 6_000 },
  snapshots: { long: 1_000, short: 100 },
  reembed: { long: 20_000, short: 1_000 },
  asleep: { long: 20_000, short: 500 },
  backup: { long: 20_000, short: 300 },
  rolling: { long: 120_000, short: 25_000 },
  /** Lists at once; of other calls there are fewer. */
  largest: { long: 300, short: 60 },
  /** Milliseconds of half a round. */
  flood: { long: 8_000, short: 2_000 },
  /** Examples of each operation. */
  foreign: { long: 20, short: 3 },
} as const;
type Name = keyof typeof SIZES;

/** Run only when they are named, because they fetch tools. */
const OPTIONAL: readonly string[] = ["foreign"];

const FREE_CALLS = "1000000000";
const REPLICAS = 3;
/** How often something is done before the database is replaced by a new one. */
const RUN_MAX = 1_000;

const PARTS: Record<Name, (size: number, seed: number) => Promise<string>> = {
  simulator: (size) =>
    vitest(
      "test/simulation",
      { SIMULATED_SCHEDULES: size },
      `${count(size)} schedules, 3 replicas, 0 faults`,
    ),

  async kills(size, seed) {
    const dataDir = newDataDir();
    const figures = await killUnderLoad({
      start: (env) => startServer({ dataDir, env }),
      kills: size,
      storesBefore: (chance) => 1 + chance.below(60),
      // Some accounts come to their limit before the kill, some do not.
      callsLimit: 25,
      seed,
    });
    const { kills, acknowledged, unanswered, paidUnanswered } = figures;
    return (
      `${kills} kills -9: ${count(acknowledged)} stores acknowledged, 0 lost; ` +
      `${count(unanswered)} calls in flight, ${count(paidUnanswered)} of them paid; no limit passed`
    );
  },

  async replicas(size, seed) {
    const done = await inRuns(size, seed, (urls, times, seed) => storeHereRecallThere({ urls, times, seed }));
    const stored = total(done.map((each) => each.stored));
    return `${count(stored)} stored on one of ${REPLICAS}, recalled on another: 0 missed`;
  },

  async retries(size, seed) {
    const done = await inRuns(size, seed, (urls, times, seed) => retryStores({ urls, times, seed }));
    const replayed = total(done.map((each) => each.replayed));
    return `${count(size)} keys on ${REPLICAS} servers, ${count(replayed)} retries: 0 duplicates, each paid once`;
  },

  async sequences(size, seed) {
    const half = Math.ceil(size / 2);
    const local = await startServer({ env: { FREE_CALLS } });
    const alone = await randomSequences({ urls: [local.url], sequences: half, seed });
    await local.stop();
    const shared = await inRuns(half, seed + 1, (urls, sequences, seed) =>
      randomSequences({ urls, sequences, seed }),
    );
    const operations = alone.operations + total(shared.map((each) => each.operations));
    const recalls = alone.recalls + total(shared.map((each) => each.recalls));
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

  async rolling(size, seed) {
    const balancer = process.env.ENVOY ? envoy() : haproxy();
    if (balancer.missing !== undefined) throw new Error(balancer.missing);
    // Less than a minute is not enough for two rounds with the default notice.
    const restarts = size < 60_000 ? 1 : 2;
    const figures = await onMongo((MONGODB_URI) =>
      rollUnderLoad({
        start: (env) => startServer({ env: { ...env, MONGODB_URI } }),
        balancer,
        restarts,
        durationMs: size,
        env: { DRAIN_NOTICE_MS: restarts > 1 ? "5000" : "3000" },
        seed,
      }),
    );
    const { calls, retries, failed, acknowledged, recallsAtOnce, elsewhere, slowestMs } = figures;
    return (
      `${figures.restarts} restarts of ${REPLICAS} replicas behind ${balancer.name} in ${seconds(size)}: ${count(calls)} calls over ` +
      `HTTP/1.1 and gRPC, ${failed} failed, ${count(retries)} tried again, the slowest took ${seconds(slowestMs)}; ` +
      `${count(acknowledged)} stores acknowledged, 0 lost; ${count(recallsAtOnce)} recalled at once, ` +
      `${count(elsewhere)} of them on another replica: 0 stale`
    );
  },

  async largest(size) {
    const full = size >= SIZES.largest.long;
    const of = { memories: full ? 100 : 18, rounds: full ? 5 : 1, lists: size };
    const figures = await largest({ start: startServer, ...of });
    const { outcomes, probes, probesFailed, slowestProbeMs, heldMaxMs, rssMaxMB, heapMaxMB } = figures;
    if (probesFailed > 0) throw new Error(`${probesFailed} of ${probes} probes of /livez failed`);
    return (
      `the largest of everything, ${count(of.rounds * size)} lists among it, with a heap of 512 MB: 0 crashes, ` +
      `${count(outcomes.ok ?? 0)} calls served, ${count(outcomes.unavailable ?? 0)} turned away; ${count(probes)} probes, ` +
      `all answered, within ${Math.round(slowestProbeMs)} ms; one iteration of the event loop took ` +
      `${Math.round(heldMaxMs)} ms of the processor at most; ` +
      `${Math.round(rssMaxMB)} MB of memory, ${Math.round(heapMaxMB)} MB of heap at most`
    );
  },

  async flood(size) {
    const full = size >= SIZES.flood.long;
    const start = (env: Record<string, string>) => startServer({ env });
    const of = { start, rounds: full ? 7 : 3, roundMs: size };
    const key = await floodOneKey(of);
    const most = full ? { idle: 5_000, slow: 500 } : { idle: 500, slow: 60 };
    const connections = await crowd({ ...of, ...most });
    console.log(
      tableOf({
        "one key floods": key,
        [`${most.idle} idle and ${most.slow} slow connections`]: connections,
      }),
    );
    const wrong = [
      ...keyProblemsOf(key),
      ...connectionProblemsOf(connections),
      // So few calls tell nothing of 99 in a hundred.
      ...(full ? [...problemsOf(key), ...problemsOf(connections)] : []),
    ];
    if (wrong.length > 0) throw new Error(wrong.join("; "));
    return (
      `${count(key.sent)} calls of one key, ${TIMES} times its rate, ${count(key.admitted)} of them admitted; ` +
      `${most.idle} idle and ${most.slow} slow connections: another key's p99 is ${key.p99Ratio.toFixed(2)} and ` +
      `${connections.p99Ratio.toFixed(2)} times what it is without, memory ${memoryRatioOf(key).toFixed(2)} and ` +
      `${memoryRatioOf(connections).toFixed(2)} times (${count(Math.round(connections.connectionBytes))} bytes a connection), 0 calls failed`
    );
  },

  foreign: (examples, seed) => callByForeignTools({ examples, seed }),

  snapshots: (size) =>
    vitest(
      "test/vectors",
      { DAMAGED_SNAPSHOTS: size },
      `${count(size)} damaged snapshots: 0 crashes, 0 wrong answers`,
    ),
};

/**
 * Runs the work in portions, each with several servers over a MongoDB of its own: the stand-in looks
 * through all of a collection for each answer, and slows down as it grows.
 */
async function inRuns<T>(
  size: number,
  seed: number,
  work: (urls: string[], times: number, seed: number) => Promise<T>,
): Promise<T[]> {
  const done: T[] = [];
  for (let from = 0; from < size; from += RUN_MAX) {
    const times = Math.min(RUN_MAX, size - from);
    done.push(await onReplicas((urls) => work(urls, times, seed + from)));
  }
  return done;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Runs the work with several servers over one MongoDB. */
function onReplicas<T>(work: (urls: string[]) => Promise<T>): Promise<T> {
  return onMongo(async (MONGODB_URI) => {
    const servers: TestServer[] = [];
    try {
      for (let i = 0; i < REPLICAS; i++) {
        servers.push(await startServer({ env: { MONGODB_URI, FREE_CALLS } }));
      }
      return await work(servers.map(({ url }) => url));
    } finally {
      await Promise.all(servers.map(({ kill }) => kill()));
    }
  });
}

/** Runs the work with a database of its own. */
async function onMongo<T>(work: (uri: string) => Promise<T>): Promise<T> {
  const mongo = await findMongo();
  if (!("uri" in mongo)) throw new Error(mongo.reason);
  try {
    return await work(withDatabase(mongo.uri, `recalld_faults_${process.pid}_${Date.now()}`));
  } finally {
    await mongo.stop();
  }
}

/** A part that is a test as well: it takes its size from the environment. */
function vitest(path: string, env: Record<string, number>, done: string): Promise<string> {
  const set = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  const child = spawn("npx", ["vitest", "run", path], {
    env: { ...process.env, ...set },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.once("close", (code) => (code === 0 ? resolve(done) : reject(new Error(output.slice(-3000)))));
  });
}

function count(value: number): string {
  return value.toLocaleString("en-US");
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

const USAGE = `npm run test:faults -- [--short] [--seed N] [PART …]
parts, all of them but ${OPTIONAL.join(", ")} when none is named: ${Object.keys(SIZES).join(", ")}`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: "boolean" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean" },
    },
  });
  const names =
    positionals.length > 0 ? positionals : Object.keys(SIZES).filter((name) => !OPTIONAL.includes(name));
  if (values.help || names.some((name) => !(name in SIZES))) {
    console.log(USAGE);
    process.exit(values.help ? 0 : 2);
  }
  const form = values.short ? "short" : "long";
  console.log(`${form} form, seed ${values.seed}, ${availableParallelism()} cores, Node ${process.version}`);
  const rows: { part: string; outcome: string; time: string; what: string }[] = [];
  for (const name of names as Name[]) {
    const begunMs = performance.now();
    const [outcome, what] = await PARTS[name](SIZES[name][form], Number(values.seed)).then(
      (done) => ["ok", done],
      (error: Error) => ["FAILED", error.message],
    );
    rows.push({
      part: name,
      outcome: outcome as string,
      time: seconds(performance.now() - begunMs),
      what: what as string,
    });
    const { time } = rows.at(-1) as (typeof rows)[0];
    console.log(`${name}: ${outcome}, ${time}: ${what}`);
  }
  console.log(`\n| part | outcome | time | what |\n|---|---|---|---|`);
  for (const { part, outcome, time, what } of rows) {
    console.log(`| ${part} | ${outcome} | ${time} | ${what.split("\n", 1)[0]} |`);
  }
  process.exit(rows.every(({ outcome }) => outcome === "ok") ? 0 : 1);
}

await main();
