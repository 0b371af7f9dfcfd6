import { byteLengthOf } from "../ports/bounds.js";
import { isMemory, type Sequenced } from "../ports/log.js";
import { fetchAll, type ShowingOptions, type Shown, shownOf } from "../versions/fetch.js";
import type { LogEnd } from "./end-of.js";
import { type Reading, readMatching } from "./matching.js";
import type { ReadingPorts } from "./ports.js";

/** Entries per read, and reads per page: there may be many deleted entries between two memories. */
const READ_MANY = 128;
const READS_MAX = 50;
/** Memories of a selection read at a time: few, because the page may have no room for them. */
const READ_SELECTED = 16;
/** Bytes after which an answer ends, with the memory that reaches them, so that every answer is bounded. */
export const PAGE_BYTES_MAX = 1_048_576;

interface PageOf extends LogEnd, Omit<ShowingOptions, "secondaryIndexes"> {
  /** Number at which the page before has ended; undefined for the first page. */
  readonly place: number | undefined;
  readonly size: number;
}

type PagePorts = Pick<ReadingPorts, "log" | "secondaryIndexes">;

interface PageRead {
  readonly items: Shown[];
  /** Number at which the next page continues; undefined if nothing is left. */
  readonly next: number | undefined;
}

/** Reads up to `size` memories with numbers below `place`, newest first. */
export async function newest(ports: PagePorts, { last, place, size, ...showing }: PageOf): Promise<PageRead> {
  const items: Shown[] = [];
  let bytes = 0;
  let before = place ?? last + 1;
  for (let reads = 0; before > 1 && reads < READS_MAX; reads++) {
    const from = Math.max(1, before - (reads === 0 ? size : READ_MANY));
    for await (const { sequence, entry } of backwards(ports, { showing, from, before })) {
      items.push(entry);
      bytes += byteLengthOf(entry);
      if (items.length === size || bytes >= PAGE_BYTES_MAX) return { items, next: above(1, sequence) };
    }
    before = from;
  }
  return { items, next: above(1, before) };
}

/** Reads up to `size` memories from the number `place` on, oldest first. */
export async function oldest(
  ports: PagePorts,
  { last, place = 1, size, ...showing }: PageOf,
): Promise<PageRead> {
  const items: Shown[] = [];
  let bytes = 0;
  let from = place;
  for (let reads = 0; from <= last && reads < READS_MAX; reads++) {
    const limit = Math.min(last - from + 1, reads === 0 ? size : READ_MANY);
    const { entries } = await ports.log.read({ logId: showing.logId, from, limit, what: "text" });
    // The log had these numbers a moment ago: it was erased meanwhile.
    if (entries.length === 0) return { items, next: undefined };
    for (const { sequence, entry } of await shownOf({ ...ports, ...showing }, entries.filter(isMemory))) {
      from = sequence + 1;
      items.push(entry);
      bytes += byteLengthOf(entry);
      if (items.length === size || bytes >= PAGE_BYTES_MAX) return { items, next: upTo(last, from) };
    }
    from = (entries.at(-1)?.sequence ?? last) + 1;
  }
  return { items, next: upTo(last, from) };
}

/**
 * Reads some memories in a given order, as far as the page has room for them. Of the numbers, `examined` are dealt with:
 * what was changed or deleted since it was found is passed over.
 */
export async function readSome(
  ports: PagePorts & Pick<ReadingPorts, "clock">,
  { sequences, size, ...reading }: Omit<Reading, "nowMs"> & { readonly size: number },
): Promise<{ items: Shown[]; examined: number }> {
  const items: Shown[] = [];
  const nowMs = ports.clock.wallMs();
  let [examined, bytes] = [0, 0];
  const hasRoom = () => items.length < size && bytes < PAGE_BYTES_MAX;
  while (examined < sequences.length && hasRoom()) {
    const some = sequences.subarray(examined, examined + READ_SELECTED);
    const read = await readMatching(ports, { ...reading, nowMs, sequences: some });
    const bySequence = new Map(read.map(({ sequence, entry }) => [sequence, entry]));
    for (const sequence of some) {
      if (!hasRoom()) break;
      examined++;
      const entry = bySequence.get(sequence);
      if (entry === undefined) continue;
      items.push(entry);
      bytes += byteLengthOf(entry);
    }
  }
  return { items, examined };
}

function above(lowest: number, number: number): number | undefined {
  return number > lowest ? number : undefined;
}

function upTo(highest: number, number: number): number | undefined {
  return number <= highest ? number : undefined;
}

async function* backwards(
  { log, secondaryIndexes }: PagePorts,
  {
    showing,
    from,
    before,
  }: { showing: Omit<ShowingOptions, "secondaryIndexes">; from: number; before: number },
): AsyncGenerator<Sequenced<Shown>> {
  const sequences = Array.from({ length: before - from }, (_, i) => from + i);
  const { logId } = showing;
  for await (const some of fetchAll(log, { logId, sequences, what: "text" })) {
    yield* await shownOf({ secondaryIndexes, ...showing }, some);
  }
}
