import type { Log, Scope } from "../ports/log.js";

/** The living log of a namespace and its last number; undefined when it holds nothing yet, or was dropped. */
export async function endOf(log: Log, scope: Scope): Promise<{ logId: string; last: number } | undefined> {
  const logId = await log.find(scope);
  const last = logId === undefined ? undefined : await log.last(logId);
  if (logId === undefined || last === undefined || last.entry.op === "drop") return undefined;
  return { logId, last: last.sequence };
}
