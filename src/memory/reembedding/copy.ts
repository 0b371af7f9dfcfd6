import type { Generations } from "../models/generations.js";
import type { Clock } from "../pacing/clock.js";
import { mapSome } from "../pacing/map-some.js";
import { SERVICE } from "../ports/embedder.js";
import { generationOf } from "../ports/generation.js";
import {
  type Appended,
  type Entry,
  forgottenBy,
  isEnd,
  type Log,
  type Numbered,
  remainderOf,
} from "../ports/log.js";

/** Entries copied at a time, and texts embedded at a time: few, because calls come first. */
const COPY_MANY = 64;
const EMBEDDING_MAX = 4;

export interface CopyPorts {
  readonly log: Log;
  readonly generations: Generations;
  readonly clock: Clock;
}

/** A log and its copy in another model generation. */
export interface Copying {
  readonly from: string;
  readonly to: string;
  readonly signal: AbortSignal;
}

/**
 * Copies a log entry by entry, under the same numbers, with the vectors of another model, from the end of the
 * copy to the present end of the log. Returns the number of entries once the copy has them all; undefined if the copy
 * has ended. Any process may continue where another stopped; two that copy at the same time write the same entries,
 * and one that slept finds the numbers taken.
 *
 * Only a tombstone, or a later version, tells that a memory is forgotten. A missing text in the original does not: an original
 * that has moved is erased, while its copy is the living log.
 */
export async function copyTail(ports: CopyPorts, { from, to, signal }: Copying): Promise<number | undefined> {
  const { log, clock } = ports;
  for (;;) {
    signal.throwIfAborted();
    const last = await log.last(to);
    if (last !== undefined && isEnd(last.entry)) return undefined;
    const copied = last?.sequence ?? 0;
    const range = { logId: from, from: copied + 1, limit: COPY_MANY, what: "text" } as const;
    const { entries } = await log.read(range);
    const end = entries.findIndex(({ entry }) => isEnd(entry));
    const news = end < 0 ? entries : entries.slice(0, end);
    if (news.length === 0) return copied;
    await copyEntries(ports, { to, news, signal });
    await clock.yield();
  }
}

async function copyEntries(
  { log, generations }: CopyPorts,
  { to, news, signal }: Omit<Copying, "from"> & { news: readonly Numbered<Entry<"text">>[] },
): Promise<void> {
  const forgotten = news.flatMap(({ entry }) => forgottenBy(entry) ?? []);
  // Erased before their tombstones are copied: after a crash, the next process begins after those.
  await log.erase({ logId: to, sequences: forgotten });
  const gone = new Set(forgotten);
  const copies = await mapSome(news, EMBEDDING_MAX, async ({ sequence, entry }): Promise<Appended> => {
    if (entry.op !== "store" || gone.has(sequence)) return withoutText(entry);
    const input = { text: entry.text, field: "text", owner: SERVICE, signal } as const;
    return { ...entry, ...(await generations.embed(generationOf(to), input)) };
  });
  await log.append({ logId: to, from: news[0]?.sequence ?? 1, entries: copies });
}

/** Reduces a memory to its number; an unreadable entry keeps its number too. */
function withoutText(entry: Entry<"text">): Appended {
  if (entry.op === "lost") return { ...NOTHING, opId: "" };
  return entry.op === "store" ? remainderOf(entry) : entry;
}

/** Entry that holds nothing. */
export const NOTHING = { op: "erased", id: "", tokens: 0, createdAtMs: 0 } as const;
