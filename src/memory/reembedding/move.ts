import { unavailable } from "../../errors.js";
import { newErasure } from "../erasure/erase.js";
import { endCopy } from "../erasure/erase-log.js";
import { newOperationId } from "../input/id.js";
import { appendDirect } from "../log/append-direct.js";
import { leave } from "../log/leave.js";
import type { Pins } from "../models/pins.js";
import type { Erasures } from "../ports/erasures.js";
import { generationOf, inGeneration } from "../ports/generation.js";
import { isEnd, type Log, type Named } from "../ports/log.js";
import { type CopyPorts, copyTail, NOTHING } from "./copy.js";

/** Number of attempts to append the move while others store. */
const ATTEMPTS_MAX = 100;
const PAUSE_MS_MAX = 20;

export interface MovePorts extends CopyPorts {
  readonly erasures: Erasures;
}

/**
 * Moves a namespace's log to the pinned model, if it is not there, and erases copies of it for models that are no
 * longer pinned. Returns false if there was nothing to do. Any process may repeat each step.
 */
export async function tend(ports: MovePorts, { scope, logId }: Named, signal: AbortSignal): Promise<boolean> {
  const { log, generations, erasures, clock } = ports;
  const { pins } = generations;
  if (generationOf(logId) !== pins.present.generation) {
    const end = await endOf(log, logId);
    if (end !== undefined) await leave(ports, { scope, logId, end });
    else if (!pins.isAtPresent(logId)) await move(ports, { scope, logId }, signal);
    if (end !== undefined || !pins.isAtPresent(logId)) return true;
  }
  const copies = await staleCopiesOf(log, { pins, logId });
  for (const copy of copies) {
    const erasure = newErasure(clock, { scope, logId: copy });
    await erasures.begin(erasure);
    // Whoever still copies finds this entry before it can end the log, and then that another model is pinned.
    const entry = { ...NOTHING, opId: newOperationId() };
    if (await appendDirect(ports, { logId, entry })) await endCopy(ports, copy);
    await erasures.end(erasure.id);
  }
  return copies.length > 0;
}

/** Finds the copies of a log that were begun for a model which is no longer pinned, and have not ended. */
export async function staleCopiesOf(
  log: Log,
  { pins, logId }: { pins: Pins; logId: string },
): Promise<string[]> {
  const begun: string[] = [];
  for (const copy of pins.staleCopiesOf(logId)) {
    const last = await log.last(copy);
    if (last !== undefined && !isEnd(last.entry)) begun.push(copy);
  }
  return begun;
}

/**
 * Moves a log to its copy. The move is the last entry of the old log: on every replica, recalls before it use the old
 * model, and recalls after it the new one.
 */
async function move(ports: MovePorts, { scope, logId: from }: Named, signal: AbortSignal): Promise<void> {
  const { log, clock, generations } = ports;
  await generations.refresh();
  if (generations.pins.isAtPresent(from)) return;
  const { generation } = generations.pins.present;
  const to = inGeneration(from, generation);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const copied = await copyTail(ports, { from, to, signal });
    const end = await endOf(log, from);
    if (end !== undefined) return leave(ports, { scope, logId: from, end });
    // After the copy: what gives a change up puts an entry into the log, which is copied before this is read.
    await generations.refresh();
    if (copied === undefined || generations.pins.present.generation !== generation) return;
    const moved = { op: "moved", opId: newOperationId(), to } as const;
    // Only right after the copied entries.
    if ((await log.append({ logId: from, from: copied + 1, entries: [moved] })) === 1) {
      return leave(ports, { scope, logId: from, end: moved });
    }
    await clock.sleep(clock.random() * PAUSE_MS_MAX);
  }
  throw unavailable("others store in this namespace without a pause; it is tried again");
}

async function endOf(log: Log, logId: string) {
  const entry = (await log.last(logId))?.entry;
  return entry && isEnd(entry) ? entry : undefined;
}
