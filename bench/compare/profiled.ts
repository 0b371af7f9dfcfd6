import type { ProcessorTime } from "./processor-time.js";
import type { Recalld } from "./recalld.js";

interface Profiled {
  readonly what: string;
  readonly call: "recall" | "store";
  readonly callers: number;
}

/** Series of calls whose processor time is measured, thread by thread. */
export const PROFILED = {
  recall1: { what: "recall, 1 caller", call: "recall", callers: 1 },
  recall16: { what: "recall, 16 callers", call: "recall", callers: 16 },
  store16: { what: "store, 16 callers", call: "store", callers: 16 },
} as const satisfies Record<string, Profiled>;
export type ProfiledId = keyof typeof PROFILED;

/** Runs each series once. The first question and the first text are those after all that were used before. */
export async function profile(
  recalld: Recalld,
  options: { question: number; text: number; recalls: number; stores: number; secondsMax: number },
) {
  const times: Partial<Record<ProfiledId, ProcessorTime>> = {};
  const next = { recall: options.question, store: options.text };
  const counts = { recall: options.recalls, store: options.stores };
  for (const [id, { call, callers }] of Object.entries(PROFILED)) {
    const count = counts[call];
    const { load, time } = await recalld.processorTimeOf(() =>
      recalld[call]({ from: next[call], count, callers, secondsMax: options.secondsMax }),
    );
    next[call] += load.latenciesMs.length;
    if (time !== undefined) times[id as ProfiledId] = time;
  }
  return { times, questions: next.recall - options.question, stored: next.store - options.text };
}
