import { appendDirect } from "../log/append-direct.js";
import { type Living, onLiving } from "../log/living-log.js";
import type { Namespaces } from "../log/namespaces.js";
import { LogEndedError } from "../log/replica.js";
import { allEntries } from "../log/walk.js";
import type { ModelVersions } from "../models/model-versions.js";
import type { Erasure, LogErasure } from "../ports/erasures.js";
import { type Deleted, isEnd, type Sequences } from "../ports/log.js";
import { baseOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { newOperationId } from "../requests/id.js";

/** Memories erased at a time. */
export const ERASE_MANY = 256;

export interface ErasurePorts
  extends Pick<DomainPorts, "indexes" | "log" | "names" | "secondaryIndexes" | "erasures" | "clock"> {
  readonly namespaces: Namespaces;
  readonly modelVersions: ModelVersions;
  /** Erases the records of calls in a namespace that began at this time or before. */
  eraseCalls(scope: Scope, untilMs: number): Promise<void>;
  /** Aborted when work that may take hours must end; what is left is finished after the next start. */
  readonly stopping?: AbortSignal | undefined;
}

/** Allowance for replicas whose clocks differ. */
const CLOCKS_DIFFER_MS = 5_000;

/** Finishes an erasure. Any process may repeat each step; all are done when the record is removed. */
export async function finish(ports: ErasurePorts, erasure: Erasure): Promise<void> {
  const { logId } = erasure;
  if (logId === undefined) await eraseCalls(ports, erasure);
  else if (!(await eraseAll(ports, { ...erasure, logId }))) return;
  await ports.erasures.remove({ id: erasure.id });
}

/** Erases versions of memories. Their tombstones are the record of that, by which any process may finish it. */
export async function eraseVersions(
  ports: ErasurePorts,
  scope: Scope,
  { logId, sequences }: Sequences,
): Promise<void> {
  const { namespaces, stopping } = ports;
  const logIds = new Set([logId]);
  for (const target of sequences) {
    stopping?.throwIfAborted();
    const tombstone = { op: "delete", opId: newOperationId(), target } as const;
    logIds.add(await bury(ports, { scope, logId, tombstone }));
    await namespaces.ifOpen(scope, async ({ replica }) => {
      if (baseOf(replica.logId) === baseOf(logId)) replica.forget(target);
    });
  }
  await eraseEntries(ports, { logIds: [...logIds], sequences });
}

/**
 * Erases entries that all replicas forget, in this process's index files, and in their logs and the copies of these. The
 * files come first: once the log has erased an entry, nobody knows any more that they may hold it.
 */
export async function eraseEntries(
  { log, indexes, modelVersions }: Pick<ErasurePorts, "log" | "indexes" | "modelVersions">,
  { logIds, sequences }: { logIds: readonly string[]; sequences: readonly number[] },
): Promise<void> {
  // The original first: a process that copies it looks there again after its copy. Then its copies, among
  // them the log that has the tombstone: its model version may be unknown to this process.
  const acrossModels = logIds.flatMap((logId) => modelVersions.pins.logsAcrossModels(logId));
  for (const each of new Set([...logIds, ...acrossModels])) {
    await indexes.wipe(each, sequences);
    await log.erase({ logId: each, sequences });
  }
}

/** Erases a whole log; returns whether it is done, and its record remains to be removed. */
async function eraseAll(ports: ErasurePorts, erasure: LogErasure): Promise<boolean> {
  const { id, scope, logId } = erasure;
  const { log, names, erasures, modelVersions } = ports;
  const endOf = async () => {
    const last = (await log.last(logId))?.entry;
    return last && isEnd(last) ? last.op : undefined;
  };
  const end = await endOf();
  if (end === undefined) {
    // A drop whose log never ended did not happen. Its next try has the same record, and may end the log meanwhile.
    await erasures.remove({ id });
    if ((await endOf()) !== undefined) await erasures.findOrInsert(erasure);
    return false;
  }
  const living = await names.find(scope);
  // Until the name points to the copy, the original is the only complete log.
  if (end === "moved" && living === logId) return false;
  const isOfLiving = living !== undefined && living !== logId && baseOf(living) === baseOf(logId);
  if (end === "moved" || isOfLiving) {
    await eraseLog(ports, logId);
    return true;
  }
  await release(ports, erasure);
  // Whoever copies it has found it by its name, so it is known by now for which models.
  await modelVersions.refresh();
  await eraseLog(ports, logId);
  for (const copy of modelVersions.pins.logsAcrossModels(logId)) {
    if (copy !== logId) await endCopy(ports, copy);
  }
  return true;
}

/** Frees the name of a dropped log, closes and erases its indexes, and erases the records of its calls. */
export async function release(ports: ErasurePorts, { scope, logId, begunAtMs }: LogErasure): Promise<void> {
  await ports.names.retire(scope, logId);
  ports.namespaces.forget(scope, logId);
  await eraseCalls(ports, { scope, begunAtMs });
}

/** Erases the records of calls that began before an erasure, by the clock of any replica. */
function eraseCalls(ports: ErasurePorts, { scope, begunAtMs }: Pick<Erasure, "scope" | "begunAtMs">) {
  return ports.eraseCalls(scope, begunAtMs + CLOCKS_DIFFER_MS);
}

/**
 * Ends and erases a copy that is no longer needed, even if another process still writes to it.
 *
 * @throws MemoryError `unavailable` if others write to it without a pause; nothing is erased then.
 */
export async function endCopy(
  ports: Pick<ErasurePorts, "log" | "clock" | "stopping">,
  logId: string,
): Promise<void> {
  // The answer does not matter: another process may have ended the copy already.
  await appendDirect(ports, { logId, entry: { op: "drop", opId: newOperationId() } });
  await eraseLog(ports, logId);
}

async function eraseLog(
  { log, stopping }: Pick<ErasurePorts, "log" | "stopping">,
  logId: string,
): Promise<void> {
  for await (const entries of allEntries(log, { logId, from: 1, limit: ERASE_MANY, projection: "header" })) {
    stopping?.throwIfAborted();
    await log.erase({ logId, sequences: entries.map(({ sequence }) => sequence) });
  }
}

/**
 * Appends a tombstone to the log, or to the one it moved to, and answers which log has it. A dropped log
 * needs none, because no replica uses it any more.
 */
async function bury(
  ports: ErasurePorts,
  { scope, logId, tombstone }: { scope: Scope; logId: string; tombstone: Deleted },
): Promise<string> {
  const buried = await onLiving(ports, scope, async (living) => {
    if (baseOf(living.logId) !== baseOf(logId)) return logId;
    const isDone =
      (await appendHere(ports, { scope, living, tombstone })) ||
      (await appendDirect(ports, { logId: living.logId, entry: tombstone }));
    // If the log has ended, the tombstone belongs into the next one.
    return isDone ? living.logId : undefined;
  });
  return buried ?? logId;
}

/** Appends through the open namespace, which avoids races with its stores; false if it is not ready. */
async function appendHere(
  { namespaces }: ErasurePorts,
  { scope, living, tombstone }: { scope: Scope; living: Living; tombstone: Deleted },
): Promise<boolean> {
  const appended = await namespaces.ifOpen(scope, async ({ replica, appender }) => {
    if (replica.logId !== living.logId || !replica.isNear(living.last)) return false;
    try {
      await appender.append(tombstone);
      return true;
    } catch (error) {
      // The log has ended meanwhile: the direct append finds that out, and follows.
      if (error instanceof LogEndedError) return false;
      throw error;
    }
  });
  return appended ?? false;
}
