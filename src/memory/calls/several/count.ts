import { authorizeFree } from "../../input/authorize.js";
import { scopeOf } from "../../input/namespace.js";
import { countShown } from "../../log/counting.js";
import type { Clock } from "../../pacing/clock.js";
import type { Log } from "../../ports/log.js";
import type { Caller, Quota } from "../../ports/quota.js";
import { endOf } from "../end-of.js";

export interface CountRequest {
  readonly caller: Caller;
  readonly namespace: string;
  /** True if memories that others superseded count, too. */
  readonly includeSuperseded?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Counts the memories of a namespace; one that does not exist has none. Costs nothing. */
export async function countMemories(
  { quota, log, clock }: { quota: Quota; log: Log; clock: Clock },
  { caller, includeSuperseded = false, signal, ...request }: CountRequest,
): Promise<number> {
  const scope = scopeOf({ caller, ...request });
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf(log, scope);
  if (end === undefined) return 0;
  return countShown({ log, clock }, { logId: end.logId, includeSuperseded, signal });
}
