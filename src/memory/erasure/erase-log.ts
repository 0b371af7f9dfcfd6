import { newOperationId } from "../input/id.js";
import { appendDirect, type DirectPorts } from "../log/append-direct.js";
import type { Log } from "../ports/log.js";

/** Memories of a dropped namespace erased at a time. */
const ERASE_MANY = 256;

/**
 * Ends and erases a copy that is no longer needed, even if another process still writes to it.
 *
 * @throws MemoryError `unavailable` if others write to it without a pause; nothing is erased then.
 */
export async function endCopy(ports: DirectPorts, logId: string): Promise<void> {
  // The answer does not matter: another process may have ended the copy already.
  await appendDirect(ports, { logId, entry: { op: "drop", opId: newOperationId() } });
  await eraseEntries(ports.log, logId);
}

export async function eraseEntries(log: Log, logId: string): Promise<void> {
  for (let from = 1; ; ) {
    const { entries, complete } = await log.read({ logId, from, limit: ERASE_MANY, what: "head" });
    await log.erase({ logId, sequences: entries.map(({ sequence }) => sequence) });
    if (complete) return;
    from += entries.length;
  }
}
