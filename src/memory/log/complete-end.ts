import type { Clock } from "../../concurrency/clock.js";
import type { Erasures } from "../ports/erasures.js";
import type { Dropped, Moved } from "../ports/log.js";
import type { Names, Scope } from "../ports/names.js";

export interface EndPorts {
  readonly names: Names;
  readonly erasures: Erasures;
  readonly clock: Clock;
}

/**
 * Completes the end of a log, in case the process that ended it died: the name points to the copy that the log moved
 * to, or becomes free if it was dropped. Any process may repeat each step.
 */
export async function completeEnd(
  { names, erasures, clock }: EndPorts,
  { scope, logId, end }: { scope: Scope; logId: string; end: Dropped | Moved },
): Promise<void> {
  // Recorded before the log loses its name, so that a crash leaves no texts without a record. Every process writes
  // the same record.
  await erasures.begin({ id: logId, scope, logId, begunAtMs: clock.wallMs() });
  if (end.op === "moved") await names.rename(scope, { from: logId, to: end.to });
  else await names.retire(scope, logId);
}
