import type { Generations } from "../generations/generations.js";
import type { Mover } from "../generations/mover.js";
import { newOperationId } from "../input/id.js";
import type { Namespaces } from "../log/namespaces.js";
import type { Clock } from "../pacing/clock.js";
import type { Erasure, Erasures } from "../ports/erasures.js";
import { baseOf } from "../ports/generation.js";
import type { Log, Scope } from "../ports/log.js";
import type { Vectors } from "../ports/vectors.js";
import { endCopy, eraseEntries } from "./erase-log.js";
import { bury } from "./tombstone.js";

export interface ErasurePorts {
  readonly vectors: Vectors;
  readonly log: Log;
  readonly erasures: Erasures;
  readonly namespaces: Namespaces;
  readonly generations: Generations;
  readonly mover: Mover;
  readonly clock: Clock;
}

export function newErasure(clock: Clock, of: { scope: Scope; logId: string }): Erasure {
  return { id: newOperationId(), ...of, begunAtMs: clock.wallMs() };
}

/** Each step may be run again, by any process: all are done when the erasure ends. */
export async function finish(ports: ErasurePorts, erasure: Erasure): Promise<void> {
  const { sequence } = erasure;
  if (sequence !== undefined) await eraseOne(ports, { ...erasure, sequence });
  else if (!(await eraseAll(ports, erasure))) return;
  await ports.erasures.end(erasure.id);
}

async function eraseOne(
  ports: ErasurePorts,
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

/** False when it is too early. */
async function eraseAll(ports: ErasurePorts, erasure: Erasure): Promise<boolean> {
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
export async function release({ log, namespaces }: ErasurePorts, { scope, logId }: Erasure): Promise<void> {
  await log.retire(scope, logId);
  namespaces.forget(scope, logId);
}
