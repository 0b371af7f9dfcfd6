import { unavailable } from "../../../errors.js";
import { type ErasurePorts, finish, newErasure } from "../../erasure/erase.js";
import type { Filter } from "../../filter/condition.js";
import { matches } from "../../filter/matches.js";
import { IDS_MAX } from "../../input/ids.js";
import type { Erasure } from "../../ports/erasures.js";
import type { Scope } from "../../ports/log.js";
import { locate, VERSIONS_MAX } from "../delete-memory.js";
import { type ErasedSome, eraseSome } from "./erase-some.js";
import { type Matching, readMatching } from "./matching.js";

/** Memories that one call deletes by a filter at most. */
const DELETED_MAX = IDS_MAX;
/** Interrupted erasures that a call looks through for those of its namespace. */
const PENDING_MAX = 1_000;
/** Memories read at a time. */
const READ_MANY = 32;

export interface Erasing extends Matching {
  readonly scope: Scope;
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Erases some of the oldest memories that were selected by a filter; answers whether others are left. */
export async function eraseMatching(
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
    const found = await readMatching(ports.log, {
      ...showing,
      sequences: first.subarray(at, at + READ_MANY),
    });
    for (const { sequence, entry } of found) memories.push({ id: entry.id, sequence });
  }
  const erase = (memory: Matched) => eraseVersions(ports, { scope, logId, filter, memory });
  const { deleted, more } = await eraseSome(ports, { scope, of: memories, erase, signal });
  return { deleted, more: more || selection.size > first.length };
}

/** Finishes what an earlier call that broke off has begun: the filter does not find it any more. */
async function finishBroken(ports: ErasurePorts, logId: string): Promise<void> {
  for (const erasure of await ports.erasures.pending(PENDING_MAX)) {
    if (erasure.logId === logId && erasure.sequence !== undefined) await finish(ports, erasure);
  }
}

/** A memory in the version that matched. */
interface Matched {
  readonly id: string;
  readonly sequence: number;
}

/**
 * Erases a memory, and the versions that others make of it meanwhile as long as they match. Answers false if the
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
    const of = { logId: next.logId, sequences: [next.sequence], what: "text" } as const;
    const [found] = (await ports.log.fetch(of)).found;
    if (found !== undefined && !matches(filter.condition, found.entry)) return false;
    erasure = next;
  }
  throw unavailable("a memory is updated again and again");
}
