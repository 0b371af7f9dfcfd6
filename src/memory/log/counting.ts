import type { Clock } from "../pacing/clock.js";
import type { Log, Special } from "../ports/log.js";
import type { ShowingOptions } from "../versions/showing.js";
import { isExpired } from "../versions/standing.js";
import { fetchAll } from "./fetch.js";

/** Numbers read at a time. */
const READ_MANY = 256;

/** Counts the memories of a log that lists show. */
export async function countShown(
  { log, clock }: { log: Log; clock: Clock },
  {
    logId,
    includeSuperseded = false,
    signal,
  }: { logId: string; includeSuperseded?: boolean | undefined; signal?: AbortSignal | undefined },
): Promise<number> {
  const showing = { log, logId, nowMs: clock.wallMs(), includeSuperseded };
  const { memories } = await log.measure({ logId });
  // Others may have stored or deleted some between the two.
  return Math.max(0, memories - (await countHidden({ ...showing, clock, signal })));
}

interface Counting extends ShowingOptions {
  readonly log: Log;
  readonly clock: Pick<Clock, "yield">;
  /** Aborted when the caller stops waiting: the log of a large namespace may say much of what is hidden. */
  readonly signal?: AbortSignal | undefined;
}

/** Counts the memories of a log that are not erased and that lists leave out. */
async function countHidden(counting: Counting): Promise<number> {
  const { log, logId, clock, signal } = counting;
  let hidden = 0;
  for (let from = 1; ; ) {
    const some = await log.special({ logId, from, limit: READ_MANY });
    hidden += await hiddenBy(counting, some);
    const last = some.at(-1);
    if (last === undefined || some.length < READ_MANY) return hidden;
    from = last.sequence + 1;
    await clock.yield();
    signal?.throwIfAborted();
  }
}

/** Counts what some numbers of a log hide: themselves once they expire, and what they supersede. */
async function hiddenBy(
  { log, logId, nowMs, includeSuperseded }: Counting,
  some: readonly Special[],
): Promise<number> {
  let hidden = some.filter((each) => isExpired(each, nowMs)).length;
  const sequences = includeSuperseded ? [] : some.flatMap(({ supersedes = [] }) => [...supersedes]);
  // One that has expired counts already, and one that was erased does not count at all.
  for await (const found of fetchAll(log, { logId, sequences, what: "head" })) {
    hidden += found.filter(({ entry }) => !isExpired(entry, nowMs)).length;
  }
  return hidden;
}
