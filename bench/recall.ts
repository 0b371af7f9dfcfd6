import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packageRoot } from "../dist/src/embedding/models/locate.js";
import { chanceOf } from "../test/support/chance.js";
import { BareServer } from "./compare/bare/bare-server.js";
import { type Shares, sharesIn } from "./compare/cpu-profile.js";
import { type Figure, figure, ratio } from "./compare/figures.js";
import { interleaved } from "./compare/interleaved.js";
import { number } from "./compare/numbers.js";
import { Recalld } from "./compare/recalld.js";
import type { Recalling } from "./compare/system.js";
import { openCorpus } from "./compare/texts.js";
import { machine, mainThreadMs } from "./machine.js";

// Measures what recalld adds to a recall: recalls a second, and the main thread's processor time for each, in rounds
// with a bare server that embeds in a thread, searches one graph and answers. Its vectors are random: a search among
// them takes longer than among those of sentences, and counts for recalld. `--profile` shows the code that took the
// main thread's time.
//
//   npm run bench -- recall [--callers 16] [--memories 6000] [--seconds 4] [--rounds 5] [--profile]

const CACHE = fileURLToPath(new URL(".cache", import.meta.url));
/** Number of vectors that the bare server finds, among which a service would choose its five results. */
const NEIGHBOURS = 13;
const FUNCTIONS_MAX = 25;
const SHARE_MIN = 0.001;
/** Time between samples, in microseconds. */
const INTERVAL = "200";
const TARGETS = { perSecond: "at least 0.90", mainMs: "at most 2.0" };

const { values } = parseArgs({
  options: {
    callers: { type: "string", default: "16" },
    memories: { type: "string", default: "6000" },
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "5" },
    profile: { type: "boolean", default: false },
  },
});
const [callers, memories, seconds, rounds] = (["callers", "memories", "seconds", "rounds"] as const).map(
  (name) => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} is ${values[name]}; it must be a number above 0`);
    return value;
  },
) as [number, number, number, number];

mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(join(CACHE, "recall-"));
const model = { model: "bundled", modelsDir: CACHE };
const corpus = await openCorpus({ ...model, folder: CACHE, workers: 1, embedded: memories, texts: memories });
/** Number of the next question: each is asked once, so that no cache answers it. */
let question = 0;
console.log(`${callers} callers, ${memories} memories, ${rounds} rounds of ${seconds} s\n${machine()}\n`);
try {
  await compare();
  if (values.profile) print(await profile());
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Opens the real program, filled with the memories. */
async function openRecalld(nodeArguments: readonly string[] = []): Promise<Recalld> {
  const own = mkdtempSync(join(folder, "recalld-"));
  const env = { LOG_LEVEL: "warn" };
  const recalld = await Recalld.open({ folder: own, namesFolder: own, corpus, model, nodeArguments, env });
  await recalld.start();
  await recalld.fill({ from: 0, to: memories });
  return recalld;
}

async function compare(): Promise<void> {
  const modelFolder = join(packageRoot(), "models", "bundled");
  const vectorsPath = join(folder, "random.f32");
  const { next: chance } = chanceOf(1);
  writeFileSync(
    vectorsPath,
    Float32Array.from(corpus.vectors, () => chance() - 0.5),
  );
  const bare = new BareServer({
    kind: "thread",
    modelFolder,
    workers: 1,
    corpus: { ...corpus, vectorsPath },
    folder,
    neighbours: NEIGHBOURS,
  });
  const recalld = await openRecalld();
  try {
    await bare.start();
    await bare.fill({ from: 0, to: memories });
    const subjects: Record<string, { system: Recalling; pid: number }> = {
      recalld: { system: recalld, pid: recalld.pids().serving[0] as number },
      bare: { system: bare, pid: bare.pid },
    };
    // The first round warms both up.
    const measured = await interleaved(Object.keys(subjects), rounds + 1, async (name) => {
      const { system, pid } = subjects[name] as { system: Recalling; pid: number };
      const beforeMs = mainThreadMs(pid);
      const { calls, seconds } = await recall(system);
      return { perSecond: calls / seconds, mainMs: (mainThreadMs(pid) - beforeMs) / calls };
    });
    const figuresOf = (name: string, what: keyof typeof TARGETS) =>
      (measured[name] ?? []).slice(1).map((round) => round[what]);
    row("", "recalls a second", "main thread, ms for each");
    for (const name of ["recalld", "bare"])
      row(name, range(figure(figuresOf(name, "perSecond"))), range(figure(figuresOf(name, "mainMs"))));
    const [perSecond, mainMs] = (["perSecond", "mainMs"] as const).map((what) =>
      range(ratio(figuresOf("recalld", what), figuresOf("bare", what))),
    );
    row("recalld over bare", perSecond as string, mainMs as string);
    row("target", TARGETS.perSecond, TARGETS.mainMs);
  } finally {
    await recalld.stop();
    await bare.stop();
  }
}

async function recall(system: Recalling): Promise<{ calls: number; seconds: number }> {
  const left = corpus.questions.length - question;
  const load = await system.recall({ from: question, count: left, callers, secondsMax: seconds });
  question += load.latenciesMs.length;
  return { calls: load.latenciesMs.length, seconds: load.seconds };
}

/** Runs recalld with a profile, and returns the main thread's. */
async function profile(): Promise<Shares> {
  const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval", INTERVAL];
  const recalld = await openRecalld(flags);
  await recall(recalld);
  await recall(recalld);
  await recalld.stop();
  return sharesIn(folder, seconds).find(({ thread }) => thread === "0") as Shares;
}

/** Prints the shares of the time in which the thread was not idle. */
function print({ modules, functions }: Shares): void {
  const busy = 1 - (modules.find(([name]) => name === "(idle)")?.[1] ?? 0);
  const parts = new Map<string, number>();
  for (const [name, share] of modules) parts.set(partOf(name), (parts.get(partOf(name)) ?? 0) + share);
  const show = (title: string, shares: Iterable<readonly [string, number]>, max: number) => {
    console.log(`\n${title}, share of the main thread's time`);
    const working = [...shares].filter(([name]) => !name.startsWith("(idle)")).sort(([, a], [, b]) => b - a);
    for (const [name, share] of working.slice(0, max))
      if (share / busy >= SHARE_MIN)
        console.log(`${((share / busy) * 100).toFixed(1).padStart(7)} %  ${name}`);
  };
  show("By part", parts, parts.size);
  show("Heaviest functions by their own time", functions, FUNCTIONS_MAX);
}

/** Part of the program that a module belongs to: a library, or one of our folders. */
function partOf(module: string): string {
  if (/^\((idle|garbage collector|program)\)$/.test(module)) return module;
  // V8 gives what is not JavaScript no module.
  if (module.startsWith("(")) return "Node, native code";
  if (module.startsWith("node:")) return "Node";
  if (/^(@fastify\/|fastify$|find-my-way$|avvio$)/.test(module)) return "Fastify";
  if (module.startsWith("@connectrpc/")) return "Connect";
  if (module.startsWith("@bufbuild/")) return "Protobuf";
  return module.replace(/^((?:src|gen)\/.*)\/[^/]+$/, "$1");
}

function range({ median, lowest, highest }: Figure): string {
  return `${number(median)} (${number(lowest)} to ${number(highest)})`;
}

function row(name: string, perSecond: string, mainMs: string): void {
  console.log(`${name.padEnd(20)}${perSecond.padStart(26)}${mainMs.padStart(30)}`);
}
