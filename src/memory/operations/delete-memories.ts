import { invalid, unavailable } from "../../errors.js";
import { type ErasurePorts, finish, newErasure } from "../erasure/erase.js";
import { matches } from "../filter/matches.js";
import type { Filter } from "../ports/condition.js";
import type { Erasure } from "../ports/erasures.js";
import type { Scope } from "../ports/names.js";
import { authorizeFree } from "../requests/authorize.js";
import { IDS_MAX } from "../requests/id.js";
import type { JsonObject } from "../requests/metadata.js";
import { scopeOf } from "../requests/namespace.js";
import { forget, locate, VERSIONS_MAX } from "./delete-memory.js";
import { type ErasedSome, eraseSome } from "./erase-some.js";
import { type DryRun, dryRun, type Matching, parseTargets, readMatching, selectIn } from "./matching.js";
import type { ErasingPorts, NamespaceRequest } from "./ports.js";

/** Memories that one call deletes by a filter at most. */
const DELETED_MAX = IDS_MAX;
/** Interrupted erasures that a call looks through for those of its namespace. */
const PENDING_MAX = 1_000;
const READ_MANY = 32;

interface Erasing extends Matching {
  readonly scope: Scope;
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A memory in the version that matched. */
interface Matched {
  readonly id: string;
  readonly sequence: number;
}

/** Memories erased at a time in an open namespace, where tombstones share writes; elsewhere they would race. */
const ERASING_MAX = 8;

export interface DeleteMemoriesRequest extends NamespaceRequest {
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

/**
 * Deletes several memories by their ids or by a filter, each like `deleteMemory`. Ids that no memory has are
 * passed over. By a filter it deletes some of the oldest that a list with it shows, and answers whether others
 * are left: a call that broke off is finished by the next one. Costs nothing.
 *
 * @throws MemoryError `invalid_argument`, `unauthenticated`, `permission_denied` or `unavailable`; after the
 * latter, some may be deleted already.
 */
export async function deleteMemories(
  ports: ErasingPorts,
  { caller, signal, ...request }: DeleteMemoriesRequest,
): Promise<DeletedMemories> {
  const scope = scopeOf({ caller, ...request });
  const { includeSuperseded = false } = request;
  const { filter, ids } = parseTargets(request);
  if (filter === undefined && includeSuperseded) {
    throw invalid("include_superseded", "is for a filter; ids name any memory");
  }
  // A dry run changes nothing, but only a key that may delete has a use for it.
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  if (filter === undefined) {
    const erase = (id: string) => forget(ports, { scope, id });
    return eraseSome(ports.clock, { targets: ids, atOnce: await atOnceIn(ports, scope), erase, signal });
  }
  const selecting = { filter, includeSuperseded, signal };
  if (request.dryRun === true) {
    return { deleted: 0, more: false, dry: await dryRun(ports, scope, selecting) };
  }
  const matching = await selectIn(ports, scope, selecting);
  if (matching === undefined) return { deleted: 0, more: false };
  return eraseMatching(ports, { ...matching, ...selecting, scope });
}

/** Number of memories of a namespace to erase at a time. */
async function atOnceIn({ namespaces }: Pick<ErasurePorts, "namespaces">, scope: Scope): Promise<number> {
  return (await namespaces.ifOpen(scope, async () => ERASING_MAX)) ?? 1;
}

/** Erases some of the oldest memories that were selected by a filter; true if others are left. */
async function eraseMatching(
  ports: ErasurePorts,
  { scope, selection, signal, ...reading }: Erasing,
): Promise<ErasedSome> {
  const { logId, filter } = reading;
  await finishBroken(ports, logId);
  const first = selection.sequences.subarray(0, DELETED_MAX);
  const memories: Matched[] = [];
  for (let at = 0; at < first.length; at += READ_MANY) {
    // Read again, because others may have deleted or changed them meanwhile.
    const showing = { ...reading, nowMs: ports.clock.wallMs() };
    const found = await readMatching(ports, {
      ...showing,
      sequences: first.subarray(at, at + READ_MANY),
    });
    for (const { sequence, entry } of found) memories.push({ id: entry.id, sequence });
  }
  const erase = (memory: Matched) => eraseVersions(ports, { scope, logId, filter, memory });
  const atOnce = await atOnceIn(ports, scope);
  const { deleted, more } = await eraseSome(ports.clock, { targets: memories, atOnce, erase, signal });
  return { deleted, more: more || selection.size > first.length };
}

/** Finishes what an earlier call that broke off has begun: the filter does not find it any more. */
async function finishBroken(ports: ErasurePorts, logId: string): Promise<void> {
  for (const erasure of await ports.erasures.pending(PENDING_MAX)) {
    if (erasure.logId === logId && erasure.sequence !== undefined) await finish(ports, erasure);
  }
}

/**
 * Erases a memory, and the versions that others make of it meanwhile as long as they match. Returns false if the
 * last one does not: that one stays.
 */
async function eraseVersions(
  ports: ErasurePorts,
  {
    scope,
    logId,
    filter,
    memory: { id, sequence },
  }: Pick<Erasing, "scope" | "logId" | "filter"> & { readonly memory: Matched },
): Promise<boolean> {
  let erasure: Erasure = { ...newErasure(ports.clock, { scope, logId }), sequence };
  for (let versions = 0; versions < VERSIONS_MAX; versions++) {
    await ports.erasures.begin(erasure);
    await finish(ports, erasure);
    const next = await locate(ports, { scope, id });
    if (next === undefined) return true;
    const fetching = { logId: next.logId, sequences: [next.sequence], what: "text" } as const;
    const [found] = (await ports.log.fetch(fetching)).found;
    if (found !== undefined && !matches(filter.condition, found.entry)) return false;
    erasure = next;
  }
  throw unavailable("a memory is updated again and again");
}
