import { percentile } from "../machine.js";
import type { LoopDelay, Recalld } from "./recalld.js";
import type { Load } from "./system.js";

const STORING = 16;

/** p99 of a recall on an idle system, and while other callers store as fast as they can. */
export interface Busy {
  readonly idleP99Ms: number;
  readonly busyP99Ms: number;
  readonly loopDelay: LoopDelay;
  readonly stored: number;
}

export async function recallWhileStoring(
  recalld: Recalld,
  options: { question: number; questions: number; text: number; storesMax: number; secondsMax: number },
): Promise<Busy> {
  const { question, questions, text, storesMax, secondsMax } = options;
  const half = Math.floor(questions / 2);
  const recalls = { callers: 1, count: half, secondsMax };
  const idle = await recalld.recall({ ...recalls, from: question });
  let busy: Load | undefined;
  let stored: Load | undefined;
  const loopDelay = await recalld.loopDelayDuring(async () => {
    const done = new AbortController();
    [busy, stored] = await Promise.all([
      recalld.recall({ ...recalls, from: question + half, until: done.signal }),
      recalld
        .store({ from: text, count: storesMax, callers: STORING, secondsMax })
        .finally(() => done.abort()),
    ]);
  });
  return {
    idleP99Ms: percentile(idle.latenciesMs, 0.99),
    busyP99Ms: percentile((busy as Load).latenciesMs, 0.99),
    loopDelay,
    stored: (stored as Load).latenciesMs.length,
  };
}
