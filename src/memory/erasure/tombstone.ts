import { appendDirect, type Living, onLiving } from "../log/append-direct.js";
import type { LeavePorts } from "../log/leave.js";
import type { Namespaces } from "../log/namespaces.js";
import { Sealed } from "../log/replica.js";
import { baseOf } from "../ports/generation.js";
import type { Deleted, Scope } from "../ports/log.js";

export interface BurialPorts extends LeavePorts {
  readonly namespaces: Namespaces;
}

interface Burial {
  readonly scope: Scope;
  readonly logId: string;
  readonly tombstone: Deleted;
}

/**
 * Appends a tombstone to the log, or to the one it moved to, and answers which log has it. A dropped log
 * needs none, because no replica uses it any more.
 */
export async function bury(ports: BurialPorts, { scope, logId, tombstone }: Burial): Promise<string> {
  const buried = await onLiving(ports, scope, async (living) => {
    if (baseOf(living.logId) !== baseOf(logId)) return logId;
    if (await appendHere(ports, { scope, living, tombstone })) return living.logId;
    const entry = tombstone;
    // Undefined if the log has ended: the tombstone belongs into the next one.
    return (await appendDirect(ports, { ...living, entry })) ? living.logId : undefined;
  });
  return buried ?? logId;
}

/** Appends through the open namespace, which avoids races with its stores; false if it is not ready. */
async function appendHere(
  { namespaces }: BurialPorts,
  { scope, living, tombstone }: { scope: Scope; living: Living; tombstone: Deleted },
): Promise<boolean> {
  const appended = await namespaces.ifOpen(scope, async ({ replica, appender }) => {
    if (replica.logId !== living.logId || !replica.isNear(living.last)) return false;
    try {
      await appender.append(tombstone);
      return true;
    } catch (error) {
      // The log has ended meanwhile: the direct append finds that out, and follows.
      if (error instanceof Sealed) return false;
      throw error;
    }
  });
  return appended ?? false;
}
