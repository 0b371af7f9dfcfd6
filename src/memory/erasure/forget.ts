import { MemoryError } from "../../errors.js";
import { type MemoryRequest, noSuchMemory } from "../calls/get.js";
import type { Generations } from "../generations/generations.js";
import type { Mover } from "../generations/mover.js";
import { authorizeFree } from "../input/authorize.js";
import { newOperationId, parseMemoryId } from "../input/id.js";
import { scopeOf } from "../input/namespace.js";
import { appendDirect, type Living, onLiving } from "../log/append-direct.js";
import type { Namespaces } from "../log/namespaces.js";
import { Sealed } from "../log/replica.js";
import type { Clock } from "../pacing/clock.js";
import type { Erasure, Erasures } from "../ports/erasures.js";
import { baseOf } from "../ports/generation.js";
import { type Deleted, isEnd, type Log, type Scope } from "../ports/log.js";
import type { Caller, Quota } from "../ports/quota.js";
import type { Vectors } from "../ports/vectors.js";

/** Memories of a dropped namespace erased in one go. */
const ERASE_MANY = 256;
/** Memories that a drop erases before it is answered: more take longer than a caller waits, and the sweep has them. */
const ERASE_AT_ONCE_MAX = 10_000;
/** Unfinished erasures taken up in one sweep, and the age at which nobody can still be at them. */
const SWEEP_MAX = 1000;
const UNFINISHED_MS = 60_000;

export interface ForgetPorts {
  readonly vectors: Vectors;
  readonly quota: Quota;
  readonly log: Log;
  readonly erasures: Erasures;
  readonly namespaces: Namespaces;
  readonly generations: Generations;
  readonly mover: Mover;
  readonly clock: Clock;
}

/**
 * Forgets one memory: its text, metadata and vector are out of the database and of this process's
 * index when this resolves, and no later recall on any replica returns it. Costs nothing.
 *
 * @throws MemoryError `not_found`, `unauthenticated` or `unavailable`; after the latter, the memory
 * may be gone already or go within a minute.
 */
export async function deleteMemory(ports: ForgetPorts, { caller, ...request }: MemoryRequest): Promise<void> {
  const scope = scopeOf({ caller, ...request });
  const id = parseMemoryId(request.id);
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const found = await locate(ports, { scope, id });
  if (!found) throw noSuchMemory();
  await ports.erasures.begin(found);
  await finish(ports, found);
}

/** Needs no index: the log knows the number of each memory. */
async function locate(ports: ForgetPorts, { scope, id }: { scope: Scope; id: string }) {
  const located = await onLiving(ports, scope, async ({ logId }) => {
    return { logId, sequence: await ports.log.locate({ logId, id }) };
  });
  if (located?.sequence === undefined) return undefined;
  const { logId, sequence } = located;
  return { ...newErasure(ports.clock, { scope, logId }), sequence };
}

export interface DropRequest {
  readonly caller: Caller;
  readonly namespace: string;
  /** Needed when the namespace is not empty. */
  readonly force: boolean;
}

/**
 * Drops a namespace and erases all of it; the name is free again. Answers how many memories it held.
 * Costs nothing.
 *
 * @throws MemoryError `not_found`; `failed_precondition` when it is not empty and `force` is not set.
 */
export async function deleteNamespace(ports: ForgetPorts, request: DropRequest): Promise<number> {
  const { caller, force } = request;
  const scope = scopeOf(request);
  await authorizeFree(ports.quota, caller, { writes: true, namespace: scope.namespace });
  const dropped = await drop(ports, scope, { force });
  if (dropped === undefined) throw new MemoryError("not_found", "there is no namespace with this name");
  return dropped;
}

/** Drops a namespace, whoever asks; answers how many memories it held, undefined when there is none. */
export async function drop(
  ports: ForgetPorts,
  scope: Scope,
  { force }: { force: boolean },
): Promise<number | undefined> {
  const dropped = await onLiving(ports, scope, async ({ logId }) => {
    const erasure = newErasure(ports.clock, { scope, logId });
    const count = await seal(ports, { erasure, force });
    return count === undefined ? undefined : { erasure, count };
  });
  if (dropped === undefined) return undefined;
  const { erasure, count } = dropped;
  // Again: while this process slept, a sweep may have found the log not sealed, and taken the note away.
  await ports.erasures.begin(erasure);
  if (count <= ERASE_AT_ONCE_MAX) await finish(ports, erasure);
  else await release(ports, erasure);
  return count;
}

/** Finishes what a crash interrupted: run at start, and now and then. Answers how many it finished. */
export async function sweep(ports: ForgetPorts): Promise<number> {
  const pending = await ports.erasures.pending(SWEEP_MAX);
  const left = pending.filter(({ begunAtMs }) => ports.clock.wallMs() - begunAtMs > UNFINISHED_MS);
  const failures: unknown[] = [];
  // One that cannot be finished now keeps no other from being erased.
  for (const erasure of left) await finish(ports, erasure).catch((error) => failures.push(error));
  await discardOrphans(ports);
  if (failures.length > 0) throw failures[0];
  return left.length;
}

/** Another replica's drop leaves this one's snapshot behind. */
async function discardOrphans({ vectors, log }: ForgetPorts): Promise<void> {
  for (const logId of await vectors.kept()) {
    const last = await log.last(logId);
    if (last === undefined || isEnd(last.entry)) await vectors.discard(logId);
  }
}

function newErasure(clock: Clock, of: { scope: Scope; logId: string }): Erasure {
  return { id: newOperationId(), ...of, begunAtMs: clock.wallMs() };
}

/**
 * Ends the log: after this entry nothing is ever appended to it. Answers how many memories it holds,
 * undefined when another has ended it.
 */
async function seal(
  ports: ForgetPorts,
  { erasure, force }: { erasure: Erasure; force: boolean },
): Promise<number | undefined> {
  const { logId, id } = erasure;
  const check = async () => {
    const { memories } = await ports.log.measure({ logId });
    if (memories > 0) throw notEmpty(memories);
  };
  if (!force) await check();
  await ports.erasures.begin(erasure);
  const entry = { op: "drop", opId: id } as const;
  if (!(await appendDirect(ports, { logId, entry, ...(!force && { check }) }))) return undefined;
  // Nothing can come after the seal: what is counted now is what was dropped.
  return (await ports.log.measure({ logId })).memories;
}

function notEmpty(size: number): MemoryError {
  const memories = size === 1 ? "1 memory" : `${size.toLocaleString("en-US")} memories`;
  return new MemoryError("failed_precondition", `the namespace holds ${memories}; set force to drop it`, {
    reason: "NAMESPACE_NOT_EMPTY",
  });
}

/** Each step may be run again, by any process: all are done when the erasure ends. */
async function finish(ports: ForgetPorts, erasure: Erasure): Promise<void> {
  const { sequence } = erasure;
  if (sequence !== undefined) await eraseOne(ports, { ...erasure, sequence });
  else if (!(await eraseAll(ports, erasure))) return;
  await ports.erasures.end(erasure.id);
}

async function eraseOne(
  ports: ForgetPorts,
  { id, scope, logId, sequence }: Erasure & { sequence: number },
): Promise<void> {
  const { namespaces, log, generations, vectors } = ports;
  const tombstone = { op: "delete", opId: id, target: sequence } as const;
  const buried = await bury(ports, { scope, logId, tombstone });
  await namespaces.ifOpen(scope, async ({ replica }) => {
    if (baseOf(replica.logId) === baseOf(logId)) await replica.forget(sequence);
  });
  // The original first: whoever copies it looks there again behind his copy. The log that has the tombstone
  // too: it may have moved to a model generation that this process has not heard of.
  for (const each of new Set([logId, buried, ...generations.familyOf(logId)])) {
    await log.erase({ logId: each, sequences: [sequence] });
    await vectors.wipe(each, [sequence]);
  }
}

interface Burial {
  readonly scope: Scope;
  readonly logId: string;
  readonly tombstone: Deleted;
}

/**
 * Appends a tombstone to the log, or to the one it moved to, and answers which has it. In a dropped one there
 * is nobody left to tell.
 */
async function bury(ports: ForgetPorts, { scope, logId, tombstone }: Burial): Promise<string> {
  const buried = await onLiving(ports, scope, async (living) => {
    if (baseOf(living.logId) !== baseOf(logId)) return logId;
    if (await appendHere(ports, { scope, living, tombstone })) return living.logId;
    const entry = tombstone;
    // Undefined when that has ended: the tombstone belongs to the log behind it.
    return (await appendDirect(ports, { ...living, entry })) ? living.logId : undefined;
  });
  return buried ?? logId;
}

/** Appends by way of the open namespace, so that its stores and deletes do not race; false if it is not ready. */
async function appendHere(
  { namespaces }: ForgetPorts,
  { scope, living, tombstone }: { scope: Scope; living: Living; tombstone: Deleted },
): Promise<boolean> {
  const appended = await namespaces.ifOpen(scope, async ({ replica, appender }) => {
    if (replica.logId !== living.logId || !replica.isNear(living.last)) return false;
    try {
      await appender.append(tombstone);
      return true;
    } catch (error) {
      // The log has ended meanwhile: the direct way finds that out, and follows.
      if (error instanceof Sealed) return false;
      throw error;
    }
  });
  return appended ?? false;
}

/** False when it is too early. */
async function eraseAll(ports: ForgetPorts, erasure: Erasure): Promise<boolean> {
  const { scope, logId } = erasure;
  const { log, generations } = ports;
  const end = (await log.last(logId))?.entry.op;
  if (end === "moved") {
    // Until its copy has the name, it is all there is.
    if ((await log.find(scope)) === logId) return false;
    await eraseEntries(log, logId);
  }
  // A drop that was never sealed did not happen: only its trace is to be taken away.
  if (end !== "drop") return true;
  await release(ports, erasure);
  await eraseEntries(log, logId);
  for (const copy of generations.familyOf(logId)) if (copy !== logId) await endCopy(ports, copy);
  return true;
}

/** Takes the name off a dropped log, and closes and erases its index. */
async function release({ log, namespaces }: ForgetPorts, { scope, logId }: Erasure): Promise<void> {
  await log.retire(scope, logId);
  namespaces.forget(scope, logId);
}

/**
 * Ends a copy that is not needed any more, whoever may still be at it, and erases it.
 *
 * @throws MemoryError `unavailable` when others write to it without a pause; nothing is erased then.
 */
export async function endCopy(ports: Pick<ForgetPorts, "log" | "clock">, logId: string): Promise<void> {
  // False when another has ended it, which is as well.
  await appendDirect(ports, { logId, entry: { op: "drop", opId: newOperationId() } });
  await eraseEntries(ports.log, logId);
}

async function eraseEntries(log: Log, logId: string): Promise<void> {
  for (let from = 1; ; ) {
    const { entries, complete } = await log.read({ logId, from, limit: ERASE_MANY, what: "head" });
    await log.erase({ logId, sequences: entries.map(({ sequence }) => sequence) });
    if (complete) return;
    from += entries.length;
  }
}
