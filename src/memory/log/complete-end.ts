import type { Dropped, Moved } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";

export type EndPort = "names" | "erasures" | "clock";

/**
 * Completes the end of a log, in case the process that ended it died: the name points to the copy that the log moved
 * to, or becomes free if it was dropped. Any process may repeat each step.
 */
export async function completeEnd(
  { names, erasures, clock }: Pick<DomainPorts, EndPort>,
  { scope, logId, end }: { scope: Scope; logId: string; end: Dropped | Moved },
): Promise<void> {
  // Recorded before the log loses its name, so that a crash leaves no texts without a record. Every process writes
  // the same record.
  await erasures.begin({ id: logId, scope, logId, begunAtMs: clock.wallMs() });
  if (end.op === "moved") await names.rename(scope, { from: logId, to: end.to });
  else await names.retire(scope, logId);
}
