import { endCopy } from "../erasure/erase-log.js";
import { type CopyPorts, copyTail } from "../generations/copy.js";
import type { Mover } from "../generations/mover.js";
import { allLogIds, allNames } from "../log/walk.js";
import type { Clock } from "../pacing/clock.js";
import { generationOf, inGeneration } from "../ports/generation.js";
import type { Log, Named } from "../ports/log.js";
import { changePlan, type Plan, type ReplicaReport, type SystemRecords } from "../ports/plan.js";

/** Time without news after which the lead, or any replica, counts as dead. */
export const LEASE_MS = 10_000;
export const SILENCE_MS = 15_000;

export interface LeadPorts extends CopyPorts {
  readonly log: Log;
  readonly systemRecords: SystemRecords;
  readonly mover: Mover;
  readonly clock: Clock;
  /** True if no other process can use this database. */
  readonly exclusive: boolean;
}

export interface Leading {
  readonly plan: Plan;
  /** Aborted when the plan has changed, or this replica no longer leads. */
  readonly signal: AbortSignal;
  onProgress(progress: Plan["progress"]): void;
}

/** Answers the plan led by this replica, unless another leads, and without the reports of dead replicas. */
export function takeLead(
  { replicas, ...rest }: Plan,
  { replica, nowMs, exclusive }: { replica: string; nowMs: number; exclusive: boolean },
): Plan {
  const isAlive = ([each, { seenAtMs }]: [string, ReplicaReport]) =>
    each === replica || (!exclusive && nowMs - seenAtMs < SILENCE_MS);
  const plan = { ...rest, replicas: Object.fromEntries(Object.entries(replicas).filter(isAlive)) };
  const { lead } = plan;
  const isLed = !exclusive && lead !== undefined && lead.replica !== replica && lead.untilMs > nowMs;
  return isLed ? plan : { ...plan, lead: { replica, untilMs: nowMs + LEASE_MS } };
}

/** Does the work of the plan's phase, as far as possible now; it is called again until the plan has ended. */
export async function lead(ports: LeadPorts, leading: Leading): Promise<void> {
  const { plan } = leading;
  if (plan.phase === "abandoned") return abandon(ports, leading);
  if (plan.phase === "switching") return moveAll(ports, leading);
  await copyAll(ports, leading);
  const ready = plan.phase === "building" ? ["loaded", "warm"] : ["warm"];
  await changePlan(ports.systemRecords, (standing) => {
    if (standing.generation !== plan.generation || standing.phase !== plan.phase) return undefined;
    if (!allAre(standing, ready, ports)) return undefined;
    return { ...standing, phase: plan.phase === "building" ? "warming" : "switching" };
  });
}

/** Tells whether all live replicas have reached the stage, and all have had the time to report. */
function allAre(plan: Plan, stages: string[], { clock, exclusive }: LeadPorts): boolean {
  const heard = exclusive || clock.wallMs() - plan.begunAtMs >= SILENCE_MS;
  return heard && Object.values(plan.replicas).every(({ stage }) => stages.includes(stage));
}

async function copyAll(ports: LeadPorts, { plan, signal, onProgress }: Leading): Promise<void> {
  const { log } = ports;
  let of = 0;
  for await (const { logId } of outside(log, { plan, signal })) {
    of += (await log.last(logId))?.sequence ?? 0;
  }
  let done = 0;
  for await (const { logId: from } of outside(log, { plan, signal })) {
    const to = inGeneration(from, plan.generation);
    done += (await log.last(to))?.sequence ?? 0;
    const onCopied = (entries: number) => {
      done += entries;
      onProgress({ done, of: Math.max(of, done) });
    };
    const { ended } = await copyTail(ports, { from, to, signal, onCopied });
    if (ended === "drop") await endCopy(ports, to);
  }
  onProgress({ done, of: done });
}

/** Moves namespaces in passes. One that finds none left is the last: new ones begin in the new generation. */
async function moveAll(ports: LeadPorts, { plan, signal, onProgress }: Leading): Promise<void> {
  const { log, mover, systemRecords } = ports;
  let moved = 0;
  for await (const { scope, logId } of outside(log, { plan, signal })) {
    await mover.move(scope, logId);
    onProgress({ done: ++moved, of: moved });
  }
  if (moved > 0 || plan.model === undefined) return;
  const pinned = await systemRecords.pinned();
  if (pinned !== undefined && pinned.generation !== plan.generation) {
    await endCopies(ports, {
      plan,
      which: async (copy) => isDropped(log, inGeneration(copy, pinned.generation)),
    });
    const previous = { generation: pinned.generation, modelId: pinned.model.id };
    await systemRecords.repin({
      from: pinned.generation,
      to: { model: plan.model, generation: plan.generation, previous },
    });
  }
  await end(systemRecords, plan);
}

async function abandon(ports: LeadPorts, { plan }: Leading): Promise<void> {
  await endCopies(ports, { plan, which: async () => true });
  await end(ports.systemRecords, plan);
}

async function endCopies(
  ports: LeadPorts,
  { plan, which }: { plan: Plan; which: (copy: string) => Promise<boolean> },
): Promise<void> {
  for await (const each of allLogIds(ports.log)) {
    if (generationOf(each) === plan.generation && (await which(each))) await endCopy(ports, each);
  }
}

async function isDropped(log: Log, logId: string): Promise<boolean> {
  return (await log.last(logId))?.entry.op === "drop";
}

/** Removes the plan. */
async function end(systemRecords: SystemRecords, { generation }: Plan): Promise<void> {
  for (;;) {
    const standing = await systemRecords.plan();
    if (standing?.plan.generation !== generation) return;
    if (await systemRecords.replacePlan({ from: standing.version, to: undefined })) return;
  }
}

/** Finds the namespaces that are not in the plan's model generation. */
async function* outside(
  log: Log,
  { plan, signal }: { plan: Plan; signal: AbortSignal },
): AsyncGenerator<Named> {
  for await (const named of allNames(log)) {
    signal.throwIfAborted();
    if (generationOf(named.logId) !== plan.generation) yield named;
  }
}
