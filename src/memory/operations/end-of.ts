import type { Log, Measured } from "../ports/log.js";
import type { Names, Scope } from "../ports/names.js";

/** A log that holds something and that no drop has ended. */
export interface LogEnd {
  readonly logId: string;
  readonly last: number;
}

export interface EndOfPorts {
  readonly log: Log;
  readonly names: Names;
}

/** Finds the living log of a namespace; undefined if it holds nothing yet, or was dropped. */
export async function endOf({ log, names }: EndOfPorts, scope: Scope): Promise<LogEnd | undefined> {
  const logId = await names.find(scope);
  const last = logId === undefined ? undefined : await log.last(logId);
  if (logId === undefined || last === undefined || last.entry.op === "drop") return undefined;
  return { logId, last: last.sequence };
}

/** Measures the living log of a namespace; undefined if it holds nothing yet, or was dropped. */
export async function measureLiving(ports: EndOfPorts, scope: Scope): Promise<Measured | undefined> {
  const end = await endOf(ports, scope);
  return end && ports.log.measure(end);
}
