import { createHash } from "node:crypto";
import { TimeSlice } from "../../../concurrency/time-slices.js";
import { invalid, parseWhole } from "../../../errors.js";
import { parseJson } from "../../../parse-json.js";
import { allEntries } from "../../log/walk.js";
import type { Entry, MemoryHeader, Projected, Sequenced } from "../../ports/log.js";
import { parseMetadataPath } from "../../requests/filter-path.js";
import { canonicalMetadata, isObject, type Json } from "../../requests/metadata.js";
import { expectWellFormed } from "../../requests/text.js";
import { byCreation } from "../../search/rank.js";
import { type FindPorts, findMemories, type VisibleMemory } from "../../versions/fetch.js";

/** Maximum number of neighbors on each side of a result. */
export const NEIGHBORS_MAX = 5;

/** Neighbors that a recall wants with each result; 0 and empty are none. */
export interface NeighborsFields {
  readonly before: number;
  readonly after: number;
  readonly same: string;
}

export interface Neighbors extends Omit<NeighborsFields, "same"> {
  /** Keys that lead to the value of the metadata that must be the same; undefined if any memory will do. */
  readonly same: readonly string[] | undefined;
}

/** Parses which neighbors of results are wanted; undefined if none are. */
export function parseNeighbors(given: NeighborsFields | undefined): Neighbors | undefined {
  if (given === undefined) return undefined;
  const limits = [0, NEIGHBORS_MAX] as const;
  const before = parseWhole("neighbors.before", given.before, limits);
  const after = parseWhole("neighbors.after", given.after, limits);
  if (before + after === 0) throw invalid("neighbors", "asks for none; before or after must be 1 or more");
  expectWellFormed("neighbors.same", given.same);
  const same = given.same === "" ? undefined : parseMetadataPath("neighbors.same", given.same);
  return { before, after, same };
}

/**
 * Entries of the log on each side of a memory among which its neighbors are looked for: at first few, and if they are
 * not enough, many. Entries stand in the order in which they were written, which is nearly that of `created_at`: a
 * text is embedded in between.
 */
const ENTRIES_FEW = 32;
const ENTRIES_MANY = 256;
/** Maximum number of reads, and entries per read, to find where an updated memory was first. */
const PROBES_MAX = 48;
const PROBE_ENTRIES = 64;
/** Memories looked up at a time. */
const LOOKUP_MANY = 8;

/** Where neighbors are looked for. */
interface NeighborContext extends FindPorts {
  readonly logId: string;
  readonly includeSuperseded: boolean;
  readonly values: ValuesAt;
}

/** Finds the memories created just before and after another one of a log, each the oldest first. */
export async function findNeighbors(
  context: NeighborContext,
  memory: Sequenced<Projected["text"]>,
  wanted: Omit<Neighbors, "same">,
) {
  const { sequence, entry } = memory;
  const position =
    entry.replaces === undefined ? sequence : await firstWrittenAt(context, sequence, entry.createdAtMs);
  for (let entries = ENTRIES_FEW; ; entries = ENTRIES_MANY) {
    const { created, isAll } = await createdAround(context, position, entries);
    const before = created.filter((each) => byCreation(each, entry) < 0).reverse();
    const after = created.filter((each) => byCreation(each, entry) > 0);
    const value = await context.values.digestOf(entry);
    const found = {
      before: (await readNeighbors(context, before, { count: wanted.before, value })).reverse(),
      after: await readNeighbors(context, after, { count: wanted.after, value }),
    };
    const isEnough = found.before.length === wanted.before && found.after.length === wanted.after;
    if (isEnough || isAll || entries === ENTRIES_MANY) return found;
  }
}

type Created = Pick<MemoryHeader, "id" | "createdAtMs">;

/** Lists the memories whose first versions were written around a position of the log, deleted ones too, by when they were created. */
async function createdAround(
  { log, logId }: NeighborContext,
  position: number,
  entries: number,
): Promise<{ created: Created[]; isAll: boolean }> {
  const created: Created[] = [];
  const [from, upto] = [Math.max(1, position - entries), position + entries];
  let last = 0;
  for await (const some of allEntries(log, { logId, from, upto, limit: upto, projection: "header" })) {
    for (const { sequence, entry } of some) {
      last = sequence;
      if ((entry.op === "store" || entry.op === "erased") && entry.replaces === undefined)
        created.push(entry);
    }
  }
  return { created: created.sort(byCreation), isAll: from === 1 && last < upto };
}

/** Reads the present versions of the first `count` visible memories that have a value, in their order. */
async function readNeighbors(
  { includeSuperseded, values, ...context }: NeighborContext,
  created: readonly Created[],
  { count, value }: { count: number; value: string },
): Promise<VisibleMemory[]> {
  const neighbors: VisibleMemory[] = [];
  // Checked each time: the search for other results' neighbors, which runs beside this, may have found out more.
  const mayMatch = ({ id }: { readonly id: string }) => values.mayHave(id, value);
  for (let at = 0; at < created.length && neighbors.length < count; at += LOOKUP_MANY) {
    const some = created.slice(at, at + LOOKUP_MANY).filter(mayMatch);
    if (some.length === 0) continue;
    const ids = some.map(({ id }) => id);
    const found = await findMemories(context, { logId: context.logId, ids, projection: "text" });
    for (const entry of ids.flatMap((id) => found.get(id) ?? [])) {
      if (entry.supersededBy !== undefined && !includeSuperseded) continue;
      if (neighbors.length < count && mayMatch(entry) && (await values.digestOf(entry)) === value)
        neighbors.push(entry);
    }
  }
  return neighbors;
}

/** Finds, by binary search, the first number up to `last` whose entry was written at a time or later. */
async function firstWrittenAt({ log, logId }: NeighborContext, last: number, atMs: number): Promise<number> {
  let [low, high] = [1, last];
  for (let probes = 0; low < high && probes < PROBES_MAX; ) {
    const middle = Math.floor((low + high) / 2);
    let writtenMs: number | undefined;
    // Tombstones have no time: the next entry that has one stands for them.
    for (let from = middle; writtenMs === undefined && from < high && probes < PROBES_MAX; probes++) {
      const limit = from === middle ? 1 : Math.min(PROBE_ENTRIES, high - from);
      const { entries } = await log.read({ logId, from, limit, projection: "header" });
      writtenMs = entries.map(({ entry }) => writtenAt(entry)).find((time) => time !== undefined);
      from = (entries.at(-1)?.sequence ?? high) + 1;
    }
    if (writtenMs === undefined || writtenMs >= atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}

function writtenAt(entry: Entry<"header">): number | undefined {
  if (entry.op !== "store" && entry.op !== "erased") return undefined;
  return entry.updatedAtMs ?? entry.createdAtMs;
}

/**
 * Digests of the values that memories have at one path of their metadata. Results near each other have the same memories
 * around them, so what is read for one of them need not be read for the others.
 */
export class ValuesAt {
  readonly #digests = new Map<string, string>();
  readonly #timeSlice = new TimeSlice();

  constructor(private readonly keys: readonly string[] | undefined) {}

  /** Digest of a memory's value; that of a memory without one is empty. */
  async digestOf({ id, metadata }: VisibleMemory): Promise<string> {
    if (this.keys === undefined) return "";
    // Metadata of thousands of keys takes milliseconds.
    await this.#timeSlice.endIfOver();
    const value = valueAt(metadata, this.keys);
    const digest = value === undefined ? "" : createHash("sha256").update(value).digest("base64");
    this.#digests.set(id, digest);
    return digest;
  }

  /** False if a memory is known to have a value with another digest. */
  mayHave(id: string, value: string): boolean {
    return (this.#digests.get(id) ?? value) === value;
  }
}

function valueAt(metadata: string, keys: readonly string[]): string | undefined {
  let value: Json | undefined = parseJson(metadata) as Json;
  for (const key of keys) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value === undefined ? undefined : canonicalMetadata(JSON.stringify(value));
}
