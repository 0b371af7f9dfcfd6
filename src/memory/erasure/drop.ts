import { failedPrecondition, type MemoryError, memoriesOf } from "../../errors.js";
import { appendDirect } from "../log/append-direct.js";
import { onLiving } from "../log/living-log.js";
import { allNames } from "../log/walk.js";
import { erasureOf } from "../ports/erasures.js";
import { type LostName, lostName, type Scope } from "../ports/names.js";
import { newOperationId } from "../requests/id.js";
import { type ErasurePorts, finish, release } from "./erase.js";

/** Memories that a drop erases before it answers. More would take too long, so the sweep erases them. */
const ERASE_AT_ONCE_MAX = 10_000;
/** Namespaces of an account dropped at a time: their writes share waits for the disk. */
const DROPPING_MAX = 16;

/**
 * Drops a namespace without asking who the caller is. Returns its number of memories; undefined without one.
 */
export async function drop(
  ports: ErasurePorts,
  scope: Scope,
  { force }: { force: boolean },
): Promise<number | undefined> {
  const dropped = await onLiving(ports, scope, async ({ logId }) => {
    const expectEmpty = async () => {
      const { memories } = await ports.log.measure({ logId });
      if (memories > 0) throw notEmpty(memories);
    };
    const check = force ? undefined : expectEmpty;
    await check?.();
    const erasure = erasureOf(scope, logId, ports.clock);
    await ports.erasures.findOrInsert(erasure);
    const entry = { op: "drop", opId: newOperationId() } as const;
    if (!(await appendDirect(ports, { logId, entry, check }))) return undefined;
    // No entry can follow the drop, so this counts exactly what was dropped.
    return { erasure, count: (await ports.log.measure({ logId })).memories };
  });
  if (dropped === undefined) return undefined;
  const { erasure, count } = dropped;
  // Again: while this process slept, a sweep may have found the log unsealed and removed the record.
  await ports.erasures.findOrInsert(erasure);
  // A call that still runs, or another process, may record a call later: the sweep erases those in a minute.
  const { id, begunAtMs } = erasure;
  await ports.erasures.findOrInsert({ id: `calls:${id}`, scope, begunAtMs });
  if (count <= ERASE_AT_ONCE_MAX) await finish(ports, erasure);
  else await release(ports, erasure);
  return count;
}

function notEmpty(size: number): MemoryError {
  return failedPrecondition(`the namespace holds ${memoriesOf(size)}; set force to drop it`, {
    reason: "NAMESPACE_NOT_EMPTY",
  });
}

/**
 * Drops and erases all namespaces of an account; returns how many memories they held.
 *
 * @throws MemoryError `unavailable` if the record of one is damaged; all others are dropped by then.
 */
export async function dropAll(ports: ErasurePorts, accountId: string): Promise<number> {
  let lost: LostName | undefined;
  const names = allNames(ports.names, { accountId });
  let dropped = 0;
  const dropSome = async () => {
    for await (const each of names) {
      const held = "lost" in each ? undefined : await drop(ports, each.scope, { force: true });
      // Added once it is known: others add meanwhile.
      dropped += held ?? 0;
      if ("lost" in each) lost = each;
    }
  };
  await Promise.all(Array.from({ length: DROPPING_MAX }, dropSome));
  if (lost !== undefined) throw lostName(lost);
  return dropped;
}
