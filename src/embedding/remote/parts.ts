import { setImmediate as nextIteration } from "node:timers/promises";
import { tokensIn } from "../encode/cost.js";
import { type Part, type WindowLimits, windowsOf } from "../encode/windows.js";

/** Windows' lengths that are cut at a time, so that a long text does not hold the main thread. */
const WINDOWS_AT_A_TIME = 2;
const UNITS_AT_A_TIME_MIN = 4_096;

/** Cuts a text into windows by estimated tokens, a slice at a time. */
export async function partsOf(text: string, limits: Omit<WindowLimits, "countTokens">): Promise<Part[]> {
  const units = Math.max(UNITS_AT_A_TIME_MIN, WINDOWS_AT_A_TIME * limits.unitsMax);
  const parts: Part[] = [];
  for (let from = 0; ; ) {
    const slice = sliceOf(text, from, units);
    const isLast = from + slice.length === text.length;
    const windows = windowsOf(slice, { ...limits, countTokens: tokensIn }).map(({ start, end }) => ({
      start: from + start,
      end: from + end,
    }));
    // The last window of a slice is not whole: the next slice begins with it.
    const next = isLast || windows.length < 2 ? undefined : windows.pop();
    parts.push(...windows);
    if (isLast) return parts;
    from = next?.start ?? from + slice.length;
    await nextIteration();
  }
}

/** Returns the next units of a text, none of them the half of a character. */
function sliceOf(text: string, from: number, units: number): string {
  const slice = text.slice(from, from + units);
  return slice.isWellFormed() ? slice : text.slice(from, from + units - 1);
}
