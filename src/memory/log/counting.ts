import type { DomainPorts } from "../ports/ports.js";
import { isExpired } from "../versions/current-version.js";
import { fetchAll } from "../versions/fetch.js";
import { supersedingAndExpiring } from "../versions/superseding.js";

/** Maximum number of attempts to count a log that others change meanwhile. */
const ATTEMPTS_MAX = 3;

interface Counting {
  readonly logId: string;
  readonly includeSuperseded?: boolean | undefined;
  /** Aborted when the caller stops waiting: the log of a large namespace may say much of what is hidden. */
  readonly signal?: AbortSignal | undefined;
}

type CountingPorts = Pick<DomainPorts, "log" | "secondaryIndexes" | "clock">;

/**
 * Counts the memories of a log that lists show. If others change the log all the time, those that they store or erase
 * in the last attempt may count or not.
 */
export async function countShown(ports: CountingPorts, counting: Counting): Promise<number> {
  const { log } = ports;
  let before = await log.measure(counting);
  for (let attempts = 1; ; attempts++) {
    const hidden = await countHidden(ports, counting);
    const after = await log.measure(counting);
    // A sweep may have erased memories that had expired, before they were known as hidden.
    const isSame = after.memories === before.memories && after.bytes === before.bytes;
    if (isSame || attempts === ATTEMPTS_MAX) return Math.max(0, after.memories - hidden);
    before = after;
  }
}

/** Counts the memories of a log that are not erased and that lists leave out: expired or superseded ones. */
async function countHidden(
  ports: CountingPorts,
  { logId, includeSuperseded = false, signal }: Counting,
): Promise<number> {
  const nowMs = ports.clock.wallMs();
  let hidden = 0;
  for await (const some of supersedingAndExpiring(ports, logId)) {
    signal?.throwIfAborted();
    hidden += some.filter((each) => isExpired(each, nowMs)).length;
    const sequences = includeSuperseded ? [] : some.flatMap(({ supersedes = [] }) => [...supersedes]);
    // One that has expired counts already, and one that was erased does not count at all.
    for await (const found of fetchAll(ports.log, { logId, sequences, what: "head" })) {
      hidden += found.filter(({ entry }) => !isExpired(entry, nowMs)).length;
    }
  }
  return hidden;
}
