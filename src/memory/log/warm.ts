import type { Names } from "../ports/names.js";
import type { Namespaces } from "./namespaces.js";

/** Maximum number of namespaces opened at the start, and the time limit; the others open on first use. */
const WARM_MAX = 1000;
const WARM_TIMEOUT_MS = 60_000;

export interface WarmOptions {
  readonly names: Pick<Names, "recent">;
  readonly namespaces: Namespaces;
  readonly stopping: AbortSignal;
  /** Called after each namespace. */
  onProgress?(done: number, total: number): void;
  /** Called if the list of recently used namespaces cannot be read. */
  onTrouble(error: unknown): void;
}

/**
 * Opens the namespaces that were used last, so that their first recall need not wait for an index to be
 * built. Resolves when the budget is full, the time is up or the process must end, even during the opening
 * of a large one: its building goes on, and its first call waits for the rest. A namespace that cannot be
 * opened is skipped: its first call reports why.
 */
export async function warm({ stopping, ...options }: WarmOptions): Promise<void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), WARM_TIMEOUT_MS).unref();
  const over = AbortSignal.any([stopping, late.signal]);
  const ended = new Promise<void>((resolve) => over.addEventListener("abort", () => resolve()));
  if (!over.aborted) await Promise.race([openOneByOne(options, over), ended]);
  clearTimeout(timer);
}

async function openOneByOne(
  { names, namespaces, onProgress, onTrouble }: Omit<WarmOptions, "stopping">,
  signal: AbortSignal,
): Promise<void> {
  const scopes = await names.recent(WARM_MAX).catch((error) => {
    onTrouble(error);
    return [];
  });
  for (const [i, scope] of scopes.entries()) {
    if (signal.aborted || namespaces.open.isFull) return;
    // A namespace that cannot be opened now is opened by its first call, which then gets the error.
    await namespaces.using(scope, ({ replica }) => replica.current()).catch(() => {});
    if (!signal.aborted) onProgress?.(i + 1, scopes.length);
  }
}
