import { failedPrecondition, MemoryError } from "../../errors.js";
import type { Embedding } from "../ports/embedder.js";
import type { Stored } from "../ports/log.js";
import { newOperationId } from "../requests/id.js";
import { type Decision, LogAdvancedError, type LogView } from "../versions/condition.js";
import {
  type CurrentVersion,
  currentByExternalId,
  currentVersionOf,
  etagOf,
  isExpired,
  noSuchMemory,
  superseded,
} from "../versions/current-version.js";

/** Action of a store if another memory has its external id. */
export type OnConflict = "refuse" | "replace" | "keep";

export interface StoreConditions {
  readonly externalId: string | undefined;
  readonly onConflict: OnConflict;
  readonly supersedes: readonly string[];
}

/**
 * Decides a store: as a new memory, as the next version of the one with its external id, or not at all. One that has
 * expired is buried first: by the clock of another process it may live, and so two would have the external id.
 *
 * @throws MemoryError `already_exists`, `not_found` or `failed_precondition`, and LogAdvancedError.
 */
export async function decideStore(
  view: LogView,
  memory: Stored,
  conditions: StoreConditions,
): Promise<Decision> {
  const { existing, expired, supersedes } = await checkStore(view, conditions);
  if (expired !== undefined)
    return { entry: { op: "delete", opId: newOperationId(), target: expired.sequence } };
  if (existing !== undefined && conditions.onConflict === "keep") return { existing: existing.entry };
  const next = { ...memory, ...(supersedes.length > 0 && { supersedes }) };
  return { entry: existing === undefined ? next : versionAfter(existing, next, view.nowMs) };
}

/**
 * Finds the memory with the external id, or the one that had it and has expired, and the numbers to supersede.
 *
 * @throws MemoryError as `decideStore`
 */
export async function checkStore(view: LogView, { externalId, onConflict, supersedes }: StoreConditions) {
  const found = externalId === undefined ? undefined : await currentByExternalId(view, externalId);
  const expired = found && isExpired(found.entry, view.nowMs) ? found : undefined;
  const existing = expired ? undefined : found;
  if (existing !== undefined && onConflict === "keep") return { existing, supersedes: [] };
  if (existing !== undefined && onConflict === "refuse") throw taken(existing);
  if (existing?.supersededBy !== undefined) throw superseded(existing.supersededBy);
  return { existing, expired, supersedes: await numbersOf(view, { ids: supersedes, existing }) };
}

function versionAfter(
  { sequence, entry }: Pick<CurrentVersion, "sequence" | "entry">,
  next: Stored,
  nowMs: number,
): Stored {
  const { id, createdAtMs, updatedAtMs = createdAtMs } = entry;
  // Clocks of two processes differ: no version is older than the one before.
  return { ...next, id, createdAtMs, updatedAtMs: Math.max(nowMs, updatedAtMs), replaces: sequence };
}

/** Finds the numbers of the memories to supersede, and refuses those that cannot be. */
async function numbersOf(
  view: LogView,
  { ids, existing }: { ids: readonly string[]; existing: CurrentVersion | undefined },
): Promise<number[]> {
  const numbers: number[] = [];
  for (const [i, id] of ids.entries()) {
    const field = `supersedes[${i}]`;
    const current = await currentVersionOf(view, id);
    if (current === undefined) {
      throw new MemoryError("not_found", `${field}: this namespace has no memory with this id`, { field });
    }
    if (current.supersededBy !== undefined) throw superseded(current.supersededBy, field);
    if (current.sequence === existing?.sequence) {
      const message = `${field} is the memory that this store replaces`;
      throw failedPrecondition(message, { field });
    }
    numbers.push(current.sequence);
  }
  return numbers;
}

function taken({ entry }: CurrentVersion): MemoryError {
  const message = `external_id is taken by ${entry.id}; set on_conflict to REPLACE or KEEP`;
  const options = { field: "external_id", reason: "EXTERNAL_ID_TAKEN", metadata: { id: entry.id } } as const;
  return new MemoryError("already_exists", message, options);
}

/** Changes of a memory. What is left out stays as it is. */
export interface Changes {
  readonly text?: string | undefined;
  /** Makes the new metadata of the old, both as JSON. @throws MemoryError `invalid_argument` */
  readonly metadata?: ((old: string) => string) | undefined;
  /** The new time from which it is hidden; null for none. */
  readonly expiresAtMs?: number | null | undefined;
  /** The new time at which it happened; null for none of its own. */
  readonly eventAtMs?: number | null | undefined;
}

/** A memory to change, and the etag that it must have, if any. */
export interface Changed {
  readonly id: string;
  readonly etag: string | undefined;
}

interface Update extends Changed {
  readonly opId: string;
  readonly changes: Changes;
  /** Embedding of the new text, if there is one. */
  readonly embedding: Embedding | undefined;
}

/**
 * Decides an update: the next version of a memory.
 *
 * @throws MemoryError `not_found`, `aborted`, `failed_precondition` or `invalid_argument`, and LogAdvancedError.
 */
export async function decideUpdate(view: LogView, update: Update): Promise<Decision> {
  const current = await updatable(view, update);
  // The old vectors are needed only if the text stays.
  const projection = update.embedding === undefined ? "all" : "text";
  const { logId, log, nowMs } = view;
  const [found] = (await log.fetch({ logId, sequences: [current.sequence], projection })).found;
  // Another has changed or deleted it since.
  if (found === undefined) throw new LogAdvancedError();
  return { entry: versionAfter(current, changed(found.entry as Stored, update), nowMs) };
}

/**
 * Finds the version that an update may replace.
 *
 * @throws MemoryError `not_found`, `aborted` or `failed_precondition`, and LogAdvancedError.
 */
export async function updatable(view: LogView, { id, etag }: Changed): Promise<CurrentVersion> {
  const current = await currentVersionOf(view, id);
  if (current === undefined) throw noSuchMemory();
  if (current.supersededBy !== undefined) throw superseded(current.supersededBy);
  const currentEtag = etagOf(current.entry);
  if (etag !== undefined && etag !== currentEtag) throw isAnother(currentEtag);
  return current;
}

function changed(old: Stored, { opId, changes, embedding }: Update): Stored {
  const { vectors, windows, supersedes, expiresAtMs = null, eventAtMs = null, ...rest } = old;
  const embedded = embedding ?? { vectors, ...(windows && { windows }), tokens: old.tokens };
  const expires = changes.expiresAtMs === undefined ? expiresAtMs : changes.expiresAtMs;
  const event = changes.eventAtMs === undefined ? eventAtMs : changes.eventAtMs;
  const metadata = changes.metadata?.(old.metadata);
  return {
    ...rest,
    opId,
    text: changes.text ?? old.text,
    ...embedded,
    ...(metadata !== undefined && { metadata }),
    ...(expires !== null && { expiresAtMs: expires }),
    ...(event !== null && { eventAtMs: event }),
  };
}

function isAnother(current: string): MemoryError {
  const message = `the memory was changed meanwhile: its etag is ${current}; read it again`;
  return new MemoryError("aborted", message, {
    field: "etag",
    reason: "ETAG_MISMATCH",
    metadata: { etag: current },
  });
}
