import { createHash } from "node:crypto";
import { failedPrecondition, MemoryError, unavailable } from "../../errors.js";
import type { MemoryHeader, Sequenced, Stored } from "../ports/log.js";
import type { Replacement } from "../ports/secondary-indexes.js";
import { LogAdvancedError, type LogView } from "./condition.js";

/** Maximum number of attempts to find the present version of a memory, which others may replace meanwhile. */
const ATTEMPTS_MAX = 20;

export interface CurrentVersion extends Sequenced<MemoryHeader> {
  /** Id of the memory that superseded it. */
  readonly supersededBy: string | undefined;
}

/** Finds the present version of a memory; undefined if it was deleted, has expired, or never was. */
export async function currentVersionOf(view: LogView, id: string): Promise<CurrentVersion | undefined> {
  const { secondaryIndexes, logId } = view;
  const found = await versionAt(view, () => secondaryIndexes.locate({ logId, id }));
  return found && isExpired(found.entry, view.nowMs) ? undefined : found;
}

/** Finds the last version with an external id, even if it has expired; undefined if it was deleted, or never was. */
export async function currentByExternalId(
  view: LogView,
  externalId: string,
): Promise<CurrentVersion | undefined> {
  const { secondaryIndexes, logId } = view;
  return versionAt(view, () => secondaryIndexes.findByExternalId({ logId, externalId }));
}

async function versionAt(
  view: LogView,
  find: () => Promise<number | undefined>,
): Promise<CurrentVersion | undefined> {
  const { log, secondaryIndexes, logId, from } = view;
  let sequence = await find();
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (sequence === undefined) return undefined;
    if (sequence >= from) throw new LogAdvancedError();
    const sequences = [sequence];
    const [found] = (await log.fetch({ logId, sequences, projection: "header" })).found;
    // Read after the memory, so that a replacement which is appended meanwhile is found.
    const last = lastOf(await secondaryIndexes.findReplacements({ logId, sequences }));
    if (last !== undefined && last.sequence >= from) throw new LogAdvancedError();
    if (found === undefined || (last !== undefined && last.how !== "superseded")) {
      // There may be a later version. Where it is erased already, what it replaced may still be there and be found first.
      const next = last?.how === "replaced" ? last.sequence : await find();
      // A delete may have come to a version that had been replaced before.
      if (last?.how === "deleted" && (next ?? 0) <= sequence) return undefined;
      sequence = next;
      continue;
    }
    return { ...found, supersededBy: last?.id };
  }
  throw unavailable("the memory is changed again and again");
}

export function lastOf(replacements: readonly Replacement[]): Replacement | undefined {
  return replacements.toSorted((a, b) => b.sequence - a.sequence)[0];
}

export function isExpired({ expiresAtMs }: { expiresAtMs?: number | undefined }, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

export function superseded(by: string, field?: string): MemoryError {
  const what = field === undefined ? "the memory" : `${field}: the memory`;
  return failedPrecondition(`${what} was superseded by ${by}; change that one`, {
    field,
    reason: "MEMORY_SUPERSEDED",
    metadata: { superseded_by: by },
  });
}

export function noSuchMemory(): MemoryError {
  return new MemoryError("not_found", "this namespace has no memory with this id");
}

/** Characters of an etag: 96 bits, so that two versions of a memory never share one. */
const ETAG_CHARS = 16;

/** Makes the etag of a version. A copy of its log in another model version has the same. */
export function etagOf({ opId }: Pick<Stored, "opId">): string {
  return `"${createHash("sha256").update(opId).digest("base64url").slice(0, ETAG_CHARS)}"`;
}
