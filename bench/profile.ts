import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Shares, sharesIn } from "./compare/cpu-profile.js";
import { Recalld } from "./compare/recalld.js";
import type { Load } from "./compare/system.js";
import { openCorpus } from "./compare/texts.js";
import { namedThreads } from "./compare/threads.js";
import { machine, percentile } from "./machine.js";

// Measures each thread's processor time for one call without a profile, and then the code that
// took it with one.
//
//   npm run bench -- profile recall|store [--callers 16] [--memories 10000] [--seconds 8]

const CACHE = fileURLToPath(new URL(".cache", import.meta.url));
const MODULES_MAX = 16;
const WARM_UP_CALLS = 2000;
const MORE_TEXTS = 100_000;
/** Time between samples, in microseconds. */
const INTERVAL = "200";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    callers: { type: "string", default: "1" },
    memories: { type: "string", default: "10000" },
    seconds: { type: "string", default: "8" },
  },
});
const [call] = positionals;
if (call !== "recall" && call !== "store") throw new Error("npm run bench -- profile recall|store");
const callers = Number(values.callers);
const memories = Number(values.memories);
const seconds = Number(values.seconds);

mkdirSync(CACHE, { recursive: true });
/** Folder in which the threads of each server note their names. */
const namesFolder = mkdtempSync(join(CACHE, "threads-"));
const model = { model: "bundled", modelsDir: CACHE };
const corpus = await openCorpus({
  ...model,
  folder: CACHE,
  workers: 1,
  embedded: memories,
  texts: memories + MORE_TEXTS,
});
console.log(`${call}, ${callers} callers, from ${memories} memories\n${machine()}`);
try {
  await plainly();
  for (const shares of await profiled()) print(shares);
} finally {
  rmSync(namesFolder, { recursive: true, force: true });
}

/** Runs one server: fills it, warms it up and loads it. */
async function loaded(
  nodeArguments: readonly string[],
  measure: (recalld: Recalld, load: () => Promise<Load>) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(CACHE, "profile-"));
  const recalld = await Recalld.open({ folder, corpus, model, nodeArguments, namesFolder });
  try {
    await recalld.start();
    await recalld.fill({ from: 0, to: memories });
    const from = call === "store" ? memories : 0;
    const more = (first: number, count: number, secondsMax: number) =>
      recalld[call as "recall"]({ from: from + first, count, callers, secondsMax });
    await more(0, WARM_UP_CALLS, seconds);
    await measure(recalld, () => more(WARM_UP_CALLS, MORE_TEXTS - WARM_UP_CALLS, seconds));
  } finally {
    await recalld.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function plainly(): Promise<void> {
  return loaded([], async (recalld, load) => {
    const { load: measured, time } = await recalld.processorTimeOf(load);
    const { latenciesMs, seconds } = measured;
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(latenciesMs, share).toFixed(2));
    console.log(`${(latenciesMs.length / seconds).toFixed(0)} calls a second, p50 ${p50} ms, p99 ${p99} ms`);
    if (time === undefined) return;
    console.log(`processor's time for a call: client ${time.clientMs.toFixed(2)} ms`);
    for (const [name, ms] of Object.entries(time.threadsMs))
      if (ms > 0.01) console.log(`  ${name.padEnd(28)}${ms.toFixed(2)} ms`);
  });
}

async function profiled(): Promise<Shares[]> {
  const folder = mkdtempSync(join(CACHE, "cpu-"));
  try {
    const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval", INTERVAL];
    await loaded(flags, async (_, load) => void (await load()));
    return sharesIn(folder, seconds);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function print({ pid, thread, modules, functions }: Shares): void {
  if ((modules.find(([name]) => name === "(idle)")?.[1] ?? 0) > 0.98) return;
  const name = namedThreads(namesFolder, pid).find(({ threadId }) => String(threadId) === thread)?.name;
  console.log(`\n${name ?? `thread ${thread} of Node`}, share of the time`);
  for (const [i, [name, share]] of modules.slice(0, MODULES_MAX).entries()) {
    const [self, selfShare] = functions[i] ?? ["", 0];
    const percent = (value: number) => `${(value * 100).toFixed(1).padStart(5)} %`;
    console.log(`  ${percent(share)}  ${name.padEnd(36)}${percent(selfShare)}  ${self}`);
  }
}
