import { byteLengthOf } from "../ports/bounds.js";
import { isMemory, type Projected, type Projection, type Sequenced } from "../ports/log.js";
import { type Visibility, type VisibleMemory, visibleOnly } from "../versions/fetch.js";
import { readMatching } from "./matching.js";
import type { Ports } from "./ports.js";

/** Memories of a selection read at a time: few, because the page may have no room for them. */
const READ_SELECTED = 16;
/** Size at which an answer ends, with the memory that reaches it, so that every answer is bounded. */
const PAGE_BYTES_MAX = 1_048_576;

/** A step of a walk through memories: one of them, if it is visible, and where the page after it begins. */
export interface Step<Cursor, E = VisibleMemory> {
  readonly entry?: E | undefined;
  /** Undefined if nothing is left. */
  readonly next: Cursor | undefined;
  /** True if a memory that was there when the walk began has changed or gone since. */
  readonly hasChanged?: boolean;
}

/**
 * Fills a page with up to `size` memories, as far as it has room for them. It is current if none of those that were
 * there when the walk began has changed since.
 */
export async function fillPage<Cursor>(
  steps: AsyncIterable<Step<Cursor>>,
  size: number,
): Promise<{ items: VisibleMemory[]; next: Cursor | undefined; isCurrent: boolean }> {
  const items: VisibleMemory[] = [];
  let bytes = 0;
  let isCurrent = true;
  let next: Cursor | undefined;
  for await (const step of steps) {
    next = step.next;
    if (step.hasChanged) isCurrent = false;
    if (step.entry === undefined) continue;
    items.push(step.entry);
    bytes += byteLengthOf(step.entry);
    if (items.length === size || bytes >= PAGE_BYTES_MAX) break;
  }
  return { items, next, isCurrent };
}

/** Entries per read, and reads per walk: there may be many deleted entries between two memories. */
const READ_MANY = 128;
const READS_MAX = 80;

/** A walk along a log. */
export interface Walk<W extends Projection> extends Visibility {
  readonly projection: W;
  /** Number of the log's last entry. */
  readonly last: number;
  /** Where the page before has ended: behind this number, or with it if the oldest come first; all if left out. */
  readonly cursor?: number | undefined;
  /** Entries of the first read. */
  readonly readFirst?: number;
}

/** Walks through the visible memories, with numbers below `cursor`, the newest first. */
export async function* newest<W extends "header" | "text">(
  ports: Ports,
  { projection, last, cursor, readFirst = READ_MANY, ...visibility }: Walk<W>,
): AsyncGenerator<Step<number, Projected[W]>> {
  const { logId } = visibility;
  const unlessFirst = (number: number) => (number > 1 ? number : undefined);
  let before = cursor ?? last + 1;
  for (let reads = 0; before > 1 && reads < READS_MAX; reads++) {
    const from = Math.max(1, before - (reads === 0 ? readFirst : READ_MANY));
    const sequences = Array.from({ length: before - from }, (_, i) => from + i);
    const { found, rest } = await ports.log.fetch({ logId, sequences, projection });
    const visible: Sequenced<Projected[W]>[] = await visibleOnly(ports, visibility, found);
    for (const { sequence, entry } of visible) yield { entry, next: unlessFirst(sequence) };
    before = from + rest.length;
    yield { next: unlessFirst(before) };
  }
}

/** Walks through the visible memories, from the number `cursor` on, the oldest first. */
export async function* oldest<W extends "header" | "text">(
  ports: Ports,
  { projection, last, cursor = 1, readFirst = READ_MANY, ...visibility }: Walk<W>,
): AsyncGenerator<Step<number, Projected[W]>> {
  const { logId } = visibility;
  const upToLast = (number: number) => (number <= last ? number : undefined);
  let from = cursor;
  for (let reads = 0; from <= last && reads < READS_MAX; reads++) {
    const limit = Math.min(last - from + 1, reads === 0 ? readFirst : READ_MANY);
    const { entries } = await ports.log.read({ logId, from, limit, projection });
    const memories = entries.filter(isMemory) as Sequenced<Projected[W]>[];
    const visible: Sequenced<Projected[W]>[] = await visibleOnly(ports, visibility, memories);
    for (const { sequence, entry } of visible) yield { entry, next: upToLast(sequence + 1) };
    // No entries: the log, which had these numbers a moment ago, was erased meanwhile.
    from = (entries.at(-1)?.sequence ?? last) + 1;
    yield { next: upToLast(from) };
  }
  if (from <= last) return;
  const { entries } = await ports.log.read({ logId, from: last + 1, limit: READ_MANY, projection: "header" });
  const isUpdate = ({ entry }: (typeof entries)[number]) =>
    entry.op === "store" && (entry.replaces ?? 0) >= cursor;
  yield { next: undefined, hasChanged: entries.some(isUpdate) };
}

/** Walks through some memories in a given order. Those that were changed or deleted since are steps without an entry. */
export async function* inOrder<Cursor>(
  ports: Ports,
  {
    sequences,
    ...visibility
  }: Omit<Parameters<typeof readMatching>[1], "sequences"> & { readonly sequences: Float64Array },
  cursorAfter: (examined: number) => Cursor | undefined,
): AsyncGenerator<Step<Cursor>> {
  for (let at = 0; at < sequences.length; at += READ_SELECTED) {
    const some = [...sequences.subarray(at, at + READ_SELECTED)];
    const read = await readMatching(ports, { ...visibility, sequences: some });
    const bySequence = new Map(read.map(({ sequence, entry }) => [sequence, entry]));
    for (const [i, sequence] of some.entries()) {
      const entry = bySequence.get(sequence);
      yield { entry, next: cursorAfter(at + i + 1), hasChanged: entry === undefined };
    }
  }
}
