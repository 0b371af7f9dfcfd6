import { MemoryError } from "../../errors.js";
import type { Embedding } from "../ports/embedder.js";
import type { Stored } from "../ports/log.js";
import type { JsonObject } from "../requests/json-object.js";
import { parseMetadata } from "../requests/metadata.js";
import { type Decision, LogAdvancedError, type LogView } from "./condition.js";
import { type CurrentVersion, currentVersionOf, noSuchMemory, superseded } from "./current-version.js";
import { versionAfter } from "./deciding-stores.js";
import { etagOf } from "./etag.js";

/** Changes of a memory. What is left out stays as it is. */
export interface Changes {
  readonly text?: (Embedding & { readonly text: string }) | undefined;
  readonly metadata?: ((old: JsonObject) => JsonObject) | undefined;
  /** The new time from which it is hidden; null for none. */
  readonly expiresAtMs?: number | null | undefined;
  /** The new time at which it happened; null for none of its own. */
  readonly eventAtMs?: number | null | undefined;
}

export interface Update {
  readonly opId: string;
  readonly id: string;
  readonly etag: string | undefined;
  readonly changes: Changes;
}

/**
 * Decides an update: the next version of a memory.
 *
 * @throws MemoryError `not_found`, `aborted`, `failed_precondition` or `invalid_argument`, and LogAdvancedError.
 */
export async function decideUpdate(view: LogView, update: Update): Promise<Decision & { entry: Stored }> {
  const current = await updatable(view, update);
  const { text } = update.changes;
  // The old vectors are needed only if the text stays.
  const what = text === undefined ? "all" : "text";
  const { logId, log, nowMs } = view;
  const [found] = (await log.fetch({ logId, sequences: [current.sequence], what })).found;
  // Another has changed or deleted it since.
  if (found === undefined) throw new LogAdvancedError();
  return { entry: versionAfter(current, changed(found.entry as Stored, update), nowMs) };
}

/**
 * Finds the version that an update may replace.
 *
 * @throws MemoryError `not_found`, `aborted` or `failed_precondition`, and LogAdvancedError.
 */
export async function updatable(
  view: LogView,
  { id, etag }: Pick<Update, "id" | "etag">,
): Promise<CurrentVersion> {
  const current = await currentVersionOf(view, id);
  if (current === undefined) throw noSuchMemory();
  if (current.supersededBy !== undefined) throw superseded(current.supersededBy);
  const currentEtag = etagOf(current.entry);
  if (etag !== undefined && etag !== currentEtag) throw isAnother(currentEtag);
  return current;
}

function changed(old: Stored, { opId, changes }: Update): Stored {
  const { vectors, windows, supersedes, expiresAtMs = null, eventAtMs = null, ...rest } = old;
  const { text = { text: old.text, vectors, ...(windows && { windows }), tokens: old.tokens } } = changes;
  const expires = changes.expiresAtMs === undefined ? expiresAtMs : changes.expiresAtMs;
  const event = changes.eventAtMs === undefined ? eventAtMs : changes.eventAtMs;
  const metadata = changes.metadata?.(JSON.parse(old.metadata) as JsonObject);
  return {
    ...rest,
    opId,
    ...text,
    ...(metadata !== undefined && { metadata: parseMetadata(metadata) }),
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
