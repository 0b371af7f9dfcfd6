import { invalid } from "../../../errors.js";
import type { ErasurePorts } from "../../erasure/erase.js";
import type { Filter } from "../../filter/condition.js";
import { parseFilter } from "../../filter/parse.js";
import { authorizeFree } from "../../input/authorize.js";
import { parseMemoryIds } from "../../input/ids.js";
import type { JsonObject } from "../../input/metadata.js";
import { scopeOf } from "../../input/namespace.js";
import type { Caller, Quota } from "../../ports/quota.js";
import type { Shown } from "../../versions/showing.js";
import { forget } from "../delete-memory.js";
import { type Erasing, eraseMatching } from "./erase-matching.js";
import { type ErasedSome, eraseSome } from "./erase-some.js";
import { type Matching, readMatching, selectIn } from "./matching.js";

/** Memories that a dry run shows at most. */
export const SAMPLES_MAX = 20;

export interface DeleteMemoriesRequest {
  readonly caller: Caller;
  readonly namespace: string;
  /** Ids of the memories, or none if there is a filter. */
  readonly ids: readonly string[];
  /** Filter of the memories; see docs/filters.md. */
  readonly filter?: JsonObject | undefined;
  /** True if the filter also finds memories that others superseded; without a filter they are deleted anyway. */
  readonly includeSuperseded?: boolean | undefined;
  /** True if nothing must be deleted yet: the answer tells what would be. */
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DeletedMemories extends ErasedSome {
  /** Matches of a filter; only of a dry run. */
  readonly dry?: DryRun | undefined;
}

export interface DryRun {
  /** Number of memories that match. */
  readonly matched: number;
  /** Some of them, the oldest. */
  readonly samples: readonly Shown[];
}

/**
 * Deletes several memories by their ids or by a filter, each like `deleteMemory`. Ids that no memory has are
 * passed over. By a filter it deletes some of the oldest that a list with it shows, and answers whether others
 * are left: a call that broke off is finished by the next one. Costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `permission_denied` or `unavailable`; after the
 * latter, some may be deleted already.
 */
export async function deleteMemories(
  ports: ErasurePorts & { readonly quota: Quota },
  { caller, signal, ...request }: DeleteMemoriesRequest,
): Promise<DeletedMemories> {
  const scope = scopeOf({ caller, ...request });
  const { filter, ids } = parse(request);
  // A dry run changes nothing, but only a key that may delete has a use for it.
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  if (filter === undefined) {
    return eraseSome(ports, { scope, of: ids, erase: (id) => forget(ports, { scope, id }), signal });
  }
  const { includeSuperseded = false } = request;
  const matching = await selectIn(ports, scope, { filter, includeSuperseded, signal });
  if (request.dryRun === true) {
    const dry = await dryRun(ports, matching, { filter, includeSuperseded });
    return { deleted: 0, more: false, dry };
  }
  if (matching === undefined) return { deleted: 0, more: false };
  return eraseMatching(ports, { ...matching, scope, filter, includeSuperseded, signal });
}

/** Parses which memories are meant: by their ids or by a filter, and not by both. */
function parse({
  ids,
  filter: given,
  dryRun = false,
  includeSuperseded = false,
}: Pick<DeleteMemoriesRequest, "ids" | "filter" | "dryRun" | "includeSuperseded">): {
  ids: readonly string[];
  filter?: Filter | undefined;
} {
  if (given === undefined) {
    if (dryRun) throw invalid("dry_run", "is for a filter; it cannot be used with ids");
    if (includeSuperseded) throw invalid("include_superseded", "is for a filter; ids name any memory");
    return { ids: parseMemoryIds(ids) };
  }
  if (ids.length > 0) throw invalid("filter", "cannot be used with ids");
  const filter = parseFilter(given);
  // It would match everything: that is what DeleteNamespace is for.
  if (filter === undefined) throw invalid("filter", "is empty; it must have a condition");
  return { ids, filter };
}

async function dryRun(
  { log, clock }: ErasurePorts,
  matching: Matching | undefined,
  { filter, includeSuperseded }: Pick<Erasing, "filter" | "includeSuperseded">,
): Promise<DryRun> {
  if (matching === undefined) return { matched: 0, samples: [] };
  const { logId, selection } = matching;
  const sequences = selection.sequences.subarray(0, SAMPLES_MAX);
  const reading = { logId, filter, includeSuperseded, nowMs: clock.wallMs() };
  const samples = await readMatching(log, { ...reading, sequences });
  return { matched: selection.size, samples: samples.map(({ entry }) => entry) };
}
