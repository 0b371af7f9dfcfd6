import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { unavailable } from "../../errors.js";
import { endCopy } from "../erasure/erase.js";
import { appendDirect } from "../log/append-direct.js";
import { completeEnd } from "../log/living-log.js";
import type { ModelVersions } from "../models/model-versions.js";
import type { Pins } from "../models/pin.js";
import { isRemote, SERVICE } from "../ports/embedder.js";
import { erasureOf } from "../ports/erasures.js";
import {
  type Appended,
  type Entry,
  forgottenBy,
  isEnd,
  type Log,
  remainderOf,
  type Sequenced,
} from "../ports/log.js";
import { inModelVersion, modelVersionOf } from "../ports/model-version.js";
import type { Named } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { newOperationId } from "../requests/id.js";

/** Entries copied at a time. */
const COPY_MANY = 64;
/** Texts embedded at a time: few, because calls come first. A remote model has more of them in one request. */
const EMBEDDING_MAX = 4;
const EMBEDDING_REMOTE_MAX = 32;

/** A log and its copy in another model version. */
interface Copying {
  readonly from: string;
  readonly to: string;
  readonly signal: AbortSignal;
}

/** Entry that holds nothing. */
export const NOTHING = { op: "erased", id: "", tokens: 0, createdAtMs: 0 } as const;

/** Number of attempts to append the move while others store. */
const ATTEMPTS_MAX = 100;
const PAUSE_MS_MAX = 20;

export interface MovePorts extends Pick<DomainPorts, "log" | "names" | "erasures" | "clock"> {
  readonly modelVersions: ModelVersions;
}

/**
 * Moves a namespace's log to the pinned model, if it is not there, and erases copies of it for models that are no
 * longer pinned. Returns false if there was nothing to do. Any process may repeat each step.
 */
export async function tend(ports: MovePorts, { scope, logId }: Named, signal: AbortSignal): Promise<boolean> {
  const { log, modelVersions, erasures, clock } = ports;
  const { pins } = modelVersions;
  if (modelVersionOf(logId) !== pins.present.modelVersion) {
    const end = await endOf(log, logId);
    if (end !== undefined) await completeEnd(ports, { scope, logId, end });
    else if (!pins.isAtPresent(logId)) await move(ports, { scope, logId }, signal);
    if (end !== undefined || !pins.isAtPresent(logId)) return true;
  }
  const copies = await staleCopiesOf(log, { pins, logId });
  for (const copy of copies) {
    await erasures.findOrInsert(erasureOf(scope, copy, clock));
    // Whoever still copies finds this entry before it can end the log, and then that another model is pinned.
    const entry = { ...NOTHING, opId: newOperationId() };
    if (await appendDirect(ports, { logId, entry })) await endCopy(ports, copy);
    await erasures.remove({ id: copy });
  }
  return copies.length > 0;
}

/**
 * Finds the copies that were begun of a log which has vectors of the pinned model, and have not ended. The pinned model
 * version's own copy may be among them: the log may have moved to an earlier model version of the same model.
 */
export async function staleCopiesOf(
  log: Pick<Log, "last">,
  { pins, logId }: { pins: Pins; logId: string },
): Promise<string[]> {
  const begun: string[] = [];
  for (const { modelVersion } of pins.all.slice(1)) {
    const copy = inModelVersion(logId, modelVersion);
    const last = copy === logId ? undefined : await log.last(copy);
    if (last !== undefined && !isEnd(last.entry)) begun.push(copy);
  }
  return begun;
}

/**
 * Moves a log to its copy. The move is the last entry of the old log: on every replica, recalls before it use the old
 * model, and recalls after it the new one.
 */
async function move(ports: MovePorts, { scope, logId: from }: Named, signal: AbortSignal): Promise<void> {
  const { log, clock, modelVersions } = ports;
  await modelVersions.refresh();
  if (modelVersions.pins.isAtPresent(from)) return;
  const { modelVersion } = modelVersions.pins.present;
  const to = inModelVersion(from, modelVersion);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const copied = await copyTail(ports, { from, to, signal });
    const end = await endOf(log, from);
    if (end !== undefined) return completeEnd(ports, { scope, logId: from, end });
    // After the copy: what gives a change up puts an entry into the log, which is copied before this is read.
    await modelVersions.refresh();
    if (copied === undefined || modelVersions.pins.present.modelVersion !== modelVersion) return;
    const moved = { op: "moved", opId: newOperationId(), to } as const;
    // Only right after the copied entries.
    if ((await log.append({ logId: from, from: copied + 1, entries: [moved] })) === 1) {
      return completeEnd(ports, { scope, logId: from, end: moved });
    }
    await clock.sleep(clock.random() * PAUSE_MS_MAX);
  }
  throw unavailable("others store in this namespace without a pause; it is tried again");
}

async function endOf(log: Log, logId: string) {
  const entry = (await log.last(logId))?.entry;
  return entry && isEnd(entry) ? entry : undefined;
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
async function copyTail(ports: MovePorts, { from, to, signal }: Copying): Promise<number | undefined> {
  const { log, clock } = ports;
  for (;;) {
    signal.throwIfAborted();
    const last = await log.last(to);
    if (last !== undefined && isEnd(last.entry)) return undefined;
    const copied = last?.sequence ?? 0;
    const range = { logId: from, from: copied + 1, limit: COPY_MANY, projection: "text" } as const;
    const { entries } = await log.read(range);
    const end = entries.findIndex(({ entry }) => isEnd(entry));
    const news = end < 0 ? entries : entries.slice(0, end);
    if (news.length === 0) return copied;
    await copyEntries(ports, { from, to, news, signal });
    await clock.yield();
  }
}

async function copyEntries(
  { log, modelVersions }: MovePorts,
  { from, to, news, signal }: Copying & { news: readonly Sequenced<Entry<"text">>[] },
): Promise<void> {
  const forgotten = news.flatMap(({ entry }) => forgottenBy(entry) ?? []);
  // Erased before their tombstones are copied: after a crash, the next process begins after those.
  await log.erase({ logId: to, sequences: forgotten });
  const gone = new Set(forgotten);
  const { id } = await modelVersions.find(modelVersionOf(to));
  const concurrency = isRemote(id) ? EMBEDDING_REMOTE_MAX : EMBEDDING_MAX;
  let failure: Error | undefined;
  const copies = await mapConcurrently(
    news,
    concurrency,
    async ({ sequence, entry }): Promise<Appended | undefined> => {
      if (failure !== undefined) return undefined;
      if (entry.op !== "store" || gone.has(sequence)) return withoutText(entry);
      const input = { text: entry.text, field: "text", owner: SERVICE, signal } as const;
      try {
        return { ...entry, ...(await modelVersions.embed(modelVersionOf(to), input)) };
      } catch (error) {
        failure ??= new Error(`memory ${entry.id} of the log ${from} could not be embedded by ${id}`, {
          cause: error,
        });
        return undefined;
      }
    },
  );
  const failed = copies.indexOf(undefined);
  // Keep the copies before the first text that failed. Otherwise a namespace would never move if some of these texts
  // failed in each attempt.
  const entries = copies.slice(0, failed < 0 ? copies.length : failed) as Appended[];
  if (entries.length > 0) await log.append({ logId: to, from: news[0]?.sequence ?? 1, entries });
  if (failure !== undefined) throw failure;
}

/** Reduces a memory to its number; an unreadable entry keeps its number too. */
function withoutText(entry: Entry<"text">): Appended {
  if (entry.op === "lost") return { ...NOTHING, opId: "" };
  return entry.op === "store" ? remainderOf(entry) : entry;
}
