import { type Caller, resultsOf, type Sent, signUp } from "../support/caller.js";
import { type Chance, chanceOf } from "../support/chance.js";
import type { TestServer } from "../support/server.js";
import {
  expectGot,
  expectRecalled,
  inParallel,
  outcomeOf,
  type StoredMemory,
  storedMemoryOf,
} from "./load.js";

const ACCOUNTS = 3;
const CLIENTS = 8;
const RECALLS_CHECKED = 5;

export interface KillOptions {
  /** Starts a server on the same database each time. */
  start(env: Record<string, string>): Promise<TestServer>;
  /** Time before a kill of which the charges of recalls may be undone. */
  readonly chargesLagMs: number;
  readonly kills: number;
  /** Number of stores that are acknowledged before each kill. */
  storesBefore(chance: Chance): number;
  /** Limit of each account. A small one is reached before the kill, a large one never. */
  readonly callsLimit: number;
  readonly seed: number;
  /** True to recall every acknowledged memory instead of some of them. */
  readonly recallAll?: boolean;
}

export interface KillFigures {
  readonly kills: number;
  readonly acknowledged: number;
  readonly unanswered: number;
  /** Calls that accounts paid in addition to the answered ones: those in flight at a kill. */
  readonly paidUnanswered: number;
}

/** Observations of one account's clients before the kill. */
interface Observed {
  readonly caller: Caller;
  answered: number;
  unanswered: number;
  /** Times at which recalls were answered. */
  readonly recalledAtMs: number[];
}

/**
 * Kills a server with -9 under load, again and again. After each restart, every acknowledged memory is
 * unchanged, and each account has paid for every answer but the last recalls, for no more than the calls in
 * flight in addition, and never beyond its limit.
 *
 * @throws Error naming what was lost or charged wrongly.
 */
export async function killUnderLoad(options: KillOptions): Promise<KillFigures> {
  const chance = chanceOf(options.seed);
  const figures = { kills: 0, acknowledged: 0, unanswered: 0, paidUnanswered: 0 };
  const all: StoredMemory[] = [];
  const start = () => options.start({ FREE_CALLS: String(options.callsLimit) });
  let server = await start();
  try {
    while (figures.kills < options.kills) {
      const { kept, observed, killedAtMs } = await loadUntilKilled(server, { options, chance });
      server = await start();
      figures.kills++;
      figures.acknowledged += kept.length;
      for (const each of observed) {
        figures.unanswered += each.unanswered;
        figures.paidUnanswered += await checkCharge(each, { url: server.url, killedAtMs, options });
      }
      await checkStored(kept, { url: server.url, options });
      all.push(...kept);
    }
    const { url } = server;
    await inParallel({ times: all.length, parallel: CLIENTS }, (i) => expectGot(all[i] as StoredMemory, url));
  } finally {
    await server.kill();
  }
  return figures;
}

async function loadUntilKilled(
  server: TestServer,
  { options, chance }: { options: KillOptions; chance: Chance },
): Promise<{ kept: StoredMemory[]; observed: Observed[]; killedAtMs: number }> {
  const callers = await Promise.all(Array.from({ length: ACCOUNTS }, () => signUp(server.url)));
  const observed: Observed[] = callers.map((caller) => ({
    caller,
    answered: 0,
    unanswered: 0,
    recalledAtMs: [],
  }));
  const kept: StoredMemory[] = [];
  const killAt = options.storesBefore(chance);
  let killed: Promise<void> | undefined;
  let killedAtMs = 0;
  let exhausted = 0;
  const kill = () => {
    killedAtMs ||= performance.now();
    killed ??= server.kill();
  };
  const client = async () => {
    while (killed === undefined) {
      const account = chance.pick(observed);
      const sent = { text: chance.text(), namespace: chance.pick(["a", "b"]), metadata: chance.metadata() };
      const storing = chance.next() < 0.75;
      const outcome = await outcomeOf(storing ? account.caller.store(sent) : recallOf(account.caller, sent));
      if (outcome === "unanswered") account.unanswered++;
      else if (outcome.code === "ok") {
        account.answered++;
        if (!storing) account.recalledAtMs.push(performance.now());
      } else if (outcome.code === "resource_exhausted") exhausted++;
      else throw new Error(`${outcome.code}: ${outcome.message}`);
      if (storing && outcome !== "unanswered" && outcome.code === "ok") {
        kept.push(storedMemoryOf(account.caller, sent, outcome));
      }
      // The others' calls are in flight. A caller that is refused again and again has nothing left to wait
      // for.
      if (kept.length >= killAt || exhausted > 50) kill();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await killed;
  return { kept, observed, killedAtMs };
}

function recallOf(caller: Caller, { text, namespace }: Sent) {
  return caller.recall(text, namespace);
}

/** Returns the number of paid calls that got no answer. */
async function checkCharge(
  { caller, answered, unanswered, recalledAtMs }: Observed,
  { url, killedAtMs, options }: { url: string; killedAtMs: number; options: KillOptions },
): Promise<number> {
  const { callsLimit, chargesLagMs } = options;
  const used = await caller.at(url).used();
  const undone = recalledAtMs.filter((atMs) => atMs > killedAtMs - chargesLagMs).length;
  const fair = used >= answered - undone && used <= answered + unanswered && used <= callsLimit;
  if (fair) return Math.max(0, used - answered);
  throw new Error(
    `${answered} calls of ${callsLimit} were answered and ${unanswered} not, but ${used} are charged`,
  );
}

async function checkStored(
  kept: readonly StoredMemory[],
  { url, options }: { url: string; options: KillOptions },
): Promise<void> {
  await inParallel({ times: kept.length, parallel: CLIENTS }, (i) => expectGot(kept[i] as StoredMemory, url));
  const recalled = options.recallAll ? kept : kept.slice(-RECALLS_CHECKED);
  for (const each of recalled) {
    if ((await each.caller.at(url).used()) < options.callsLimit) await expectRecalled(each, url);
  }
  await checkOnce(recalled, url);
}

/** Checks that no memory exists twice. */
async function checkOnce(kept: readonly StoredMemory[], url: string): Promise<void> {
  const [last] = kept.slice(-1);
  if (last === undefined) return;
  const outcome = await last.caller.at(url).recall(last.sent.text, last.sent.namespace, 20);
  if (outcome.code !== "ok") return;
  const texts = resultsOf(outcome).map(({ text }) => text);
  if (new Set(texts).size < texts.length) throw new Error("a memory is recalled twice");
}
