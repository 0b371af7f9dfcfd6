import { setTimeout as sleep } from "node:timers/promises";
import { signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import {
  expectGot,
  expectRecalled,
  inParallel,
  outcomeOf,
  type StoredMemory,
  storedMemoryOf,
} from "./load.js";

const CLIENTS = 6;
/** Limit of a call at the server, plus some time for the network. */
const CALL_MS_MAX = 31_000;
const RECOVERY_MS_MAX = 5_000;
/** Time before the database becomes unavailable, and after it has come back. */
const CALM_MS = 1_500;
/** Pause of a refused client, as the server asks. */
const PAUSE_MS = 100;

export interface OutageOptions {
  readonly url: string;
  /** Database to make unavailable and available again. */
  readonly database: { pause(): void; resume(): void };
  readonly awayMs: number;
  readonly seed: number;
}

export interface OutageFigures {
  readonly acknowledged: number;
  readonly refused: number;
  readonly slowestMs: number;
  readonly recoveryMs: number;
}

/**
 * Makes the database unavailable under load.
 *
 * @throws Error when an acknowledged memory is lost, a call takes longer than its deadline or ends in another
 * way than `unavailable`, or the service does not recover in time.
 */
export async function outage({ url, database, awayMs, seed }: OutageOptions): Promise<OutageFigures> {
  const chance = chanceOf(seed);
  const caller = await signUp(url);
  const kept: StoredMemory[] = [];
  const seen = { refused: 0, slowestMs: 0, answered: 0, backMs: 0, recoveredMs: 0 };
  let running = true;
  const client = async () => {
    while (running) {
      const begunMs = performance.now();
      const sent = { text: chance.text(), namespace: chance.pick(["a", "b"]), metadata: chance.metadata() };
      const storing = chance.next() < 0.7;
      const outcome = await outcomeOf(
        storing ? caller.store(sent) : caller.recall(sent.text, sent.namespace),
      );
      const endedMs = performance.now();
      seen.slowestMs = Math.max(seen.slowestMs, endedMs - begunMs);
      if (outcome === "unanswered") throw new Error("a call was not answered");
      if (outcome.code === "ok") {
        seen.answered++;
        if (storing) kept.push(storedMemoryOf(caller, sent, outcome));
        if (seen.backMs > 0 && begunMs > seen.backMs) seen.recoveredMs ||= endedMs;
      } else if (outcome.code === "unavailable" || outcome.code === "deadline_exceeded") {
        seen.refused++;
        await sleep(PAUSE_MS);
      } else throw new Error(`${outcome.code}: ${outcome.message}`);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  const schedule = async () => {
    await sleep(CALM_MS);
    await database.pause();
    await sleep(awayMs);
    database.resume();
    seen.backMs = performance.now();
    while (seen.recoveredMs === 0 && performance.now() - seen.backMs < RECOVERY_MS_MAX) await sleep(PAUSE_MS);
    await sleep(CALM_MS);
    running = false;
  };
  await Promise.all([clients, schedule()]);
  const recoveryMs = seen.recoveredMs - seen.backMs;
  if (!(recoveryMs > 0 && recoveryMs < RECOVERY_MS_MAX))
    throw new Error(`not back after ${RECOVERY_MS_MAX} ms`);
  if (seen.slowestMs > CALL_MS_MAX) throw new Error(`a call took ${seen.slowestMs} ms`);
  await checkAll(kept, url);
  return { acknowledged: kept.length, refused: seen.refused, slowestMs: seen.slowestMs, recoveryMs };
}

async function checkAll(kept: readonly StoredMemory[], url: string): Promise<void> {
  await inParallel({ times: kept.length, parallel: CLIENTS }, async (i) => {
    await expectGot(kept[i] as StoredMemory, url);
    if (i % 10 === 0) await expectRecalled(kept[i] as StoredMemory, url);
  });
}
