import { MemoryError } from "../../errors.js";
import { isMemory, type Log, type Measured, type Projected } from "../ports/log.js";
import type { Caller } from "../ports/quota.js";
import { authorizeFree } from "../requests/authorize.js";
import { scopeOf } from "../requests/namespace.js";
import { type ShowingOptions, shownOf } from "../versions/fetch.js";
import { endOf, type LogEnd } from "./end-of.js";
import type { ReadingPorts } from "./ports.js";

/** Entries per read, and reads at each end of a log: many deleted entries may stand there. */
const READ_MANY = 512;
const READS_MAX = 20;

export interface NamespaceDetails extends Measured {
  /**
   * Times when the first and the last memory that lists show were stored, or changed last; undefined if none is
   * near that end.
   */
  readonly firstAtMs: number | undefined;
  readonly lastAtMs: number | undefined;
}

/**
 * Gets what a namespace holds, and when its oldest and newest memories were written. Costs nothing.
 *
 * @throws MemoryError `not_found`
 */
export async function getNamespace(
  { quota, log, names, secondaryIndexes, clock }: ReadingPorts,
  { caller, ...request }: { caller: Caller; namespace: string },
): Promise<NamespaceDetails> {
  const scope = scopeOf({ caller, ...request });
  await authorizeFree(quota, caller, { writes: false, namespace: scope.namespace });
  const end = await endOf({ log, names }, scope);
  if (end === undefined) throw noSuchNamespace();
  const measured = await log.measure(end);
  if (measured.memories === 0) return { ...measured, firstAtMs: undefined, lastAtMs: undefined };
  const { logId } = end;
  const showing = { secondaryIndexes, logId, nowMs: clock.wallMs(), includeSuperseded: false };
  return {
    ...measured,
    firstAtMs: await firstAt(log, end, showing),
    lastAtMs: await lastAt(log, end, showing),
  };
}

export function noSuchNamespace(): MemoryError {
  return new MemoryError("not_found", "there is no namespace with this name");
}

async function firstAt(
  log: Log,
  { logId, last }: LogEnd,
  showing: ShowingOptions,
): Promise<number | undefined> {
  let from = 1;
  for (let reads = 0; from <= last && reads < READS_MAX; reads++) {
    const { entries } = await log.read({ logId, from, limit: READ_MANY, what: "head" });
    const [oldest] = await shownOf(showing, entries.filter(isMemory));
    if (oldest !== undefined) return writtenAt(oldest.entry);
    if (entries.length === 0) return undefined;
    from += entries.length;
  }
  return undefined;
}

async function lastAt(
  log: Log,
  { logId, last }: LogEnd,
  showing: ShowingOptions,
): Promise<number | undefined> {
  let before = last + 1;
  for (let reads = 0; before > 1 && reads < READS_MAX; reads++) {
    const from = Math.max(1, before - READ_MANY);
    const sequences = Array.from({ length: before - from }, (_, i) => from + i);
    const { found, rest } = await log.fetch({ logId, sequences, what: "head" });
    const [newest] = await shownOf(showing, found);
    if (newest !== undefined) return writtenAt(newest.entry);
    before = from + rest.length;
  }
  return undefined;
}

/** Returns when a version was written: lists have the memories in the order of these times. */
function writtenAt({ createdAtMs, updatedAtMs = createdAtMs }: Projected["head"]): number {
  return updatedAtMs;
}
