import type { Log, Measured, Scope } from "../ports/log.js";

/** A log that holds something and that no drop has ended. */
export interface LogEnd {
  readonly logId: string;
  readonly last: number;
}

/** Finds the living log of a namespace; undefined if it holds nothing yet, or was dropped. */
export async function endOf(log: Log, scope: Scope): Promise<LogEnd | undefined> {
  const logId = await log.find(scope);
  const last = logId === undefined ? undefined : await log.last(logId);
  if (logId === undefined || last === undefined || last.entry.op === "drop") return undefined;
  return { logId, last: last.sequence };
}

/** Measures the living log of a namespace; undefined if it holds nothing yet, or was dropped. */
export async function measureLiving(log: Log, scope: Scope): Promise<Measured | undefined> {
  const end = await endOf(log, scope);
  return end && log.measure(end);
}
