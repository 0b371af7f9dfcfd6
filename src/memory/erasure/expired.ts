import { baseOf } from "../ports/generation.js";
import type { Expiring, Scope } from "../ports/log.js";
import { type EntryErasurePorts, type ErasurePorts, eraseEntry, finish } from "./erase.js";

/** Maximum number of memories erased in one sweep, and of those listed at a time. */
const ERASED_MAX = 10_000;
const LIST_MANY = 500;
/** Maximum number of lists read in one sweep: they may be of logs that have no name. */
const LISTS_MAX = 100;

/** Erases versions that were replaced, and whose erasure a crash interrupted; answers their number. */
export async function eraseReplaced(ports: EntryErasurePorts): Promise<number> {
  const left = await ports.log.unerased(LIST_MANY);
  for (const { logId, sequence } of left) await eraseEntry(ports, { logIds: [logId], sequence });
  return left.length;
}

/** Erases memories that have expired, each with a tombstone of its own; answers their number. */
export async function eraseExpired(ports: ErasurePorts): Promise<number> {
  const { log, clock } = ports;
  const untilMs = clock.wallMs();
  let erased = 0;
  let after: Expiring | undefined;
  for (let lists = 0; lists < LISTS_MAX && erased < ERASED_MAX; lists++) {
    const some = await log.expired({ untilMs, after, limit: LIST_MANY });
    const scopes = new Map<string, Scope | undefined>();
    for (const { logId } of some) if (!scopes.has(logId)) scopes.set(logId, await log.scopeOf(logId));
    for (const each of some) {
      const scope = scopes.get(each.logId);
      // A log without a name is a copy, which is erased with its original, or has ended.
      if (scope === undefined) continue;
      await eraseOne(ports, { ...each, scope });
      erased++;
    }
    after = some.at(-1);
    if (some.length < LIST_MANY) break;
  }
  return erased;
}

async function eraseOne(
  ports: ErasurePorts,
  { scope, logId, sequence }: Expiring & { scope: Scope },
): Promise<void> {
  // Every process makes the same record and the same tombstone.
  const id = `expiry:${baseOf(logId)}:${sequence}`;
  const erasure = { id, scope, logId, sequence, begunAtMs: ports.clock.wallMs() };
  await ports.erasures.begin(erasure);
  await finish(ports, erasure);
}
