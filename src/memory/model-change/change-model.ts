import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError } from "../../errors.js";
import type { Generation } from "../ports/generation.js";
import { changePlan, type Plan, type SystemRecords } from "../ports/plan.js";

/** Interval of looking up the progress. */
const LOOK_MS = 500;

/**
 * Begins the change of a database's model, which the services that use the database carry out. A change that
 * runs already is followed.
 *
 * @throws MemoryError `failed_precondition` if there is nothing to change, or another change is under way.
 */
export async function begin(
  systemRecords: SystemRecords,
  { modelId, atOnce }: { modelId: string; atOnce: boolean },
): Promise<Generation> {
  const pinned = await systemRecords.pinned();
  if (pinned === undefined)
    throw refused(`the database holds nothing yet: start the service with MODEL=${modelId}`);
  const standing = (await systemRecords.plan())?.plan;
  if (standing === undefined) {
    const plan = newPlan(modelId, atOnce);
    if (await systemRecords.replacePlan({ from: 0, to: plan })) return plan.generation;
    return begin(systemRecords, { modelId, atOnce });
  }
  if (standing.modelId === modelId && standing.phase !== "abandoned") return standing.generation;
  throw refused(`a change to ${standing.modelId} is under way (${standing.phase}); see \`reembed --status\``);
}

/** State of a database's model, seen from outside. */
export interface ModelChangeStatus {
  /** The running change and its progress, in one line. */
  readonly change?: { readonly generation: Generation; readonly line: string };
  /** The model of the database's vectors; absent while it is empty. */
  readonly holds?: { readonly generation: Generation; readonly modelId: string };
}

export async function standingOf(systemRecords: SystemRecords): Promise<ModelChangeStatus> {
  const plan = (await systemRecords.plan())?.plan;
  // Read after the plan: a plan that has ended by now has pinned its model before.
  const pinned = await systemRecords.pinned();
  return {
    ...(plan && { change: { generation: plan.generation, line: describe(plan) } }),
    ...(pinned && { holds: { generation: pinned.generation, modelId: pinned.model.id } }),
  };
}

/** Shows the progress of the change until it has ended; answers the state of the database then. */
export async function follow(
  look: () => Promise<ModelChangeStatus>,
  { generation, show }: { generation: Generation; show: (line: string) => void },
): Promise<ModelChangeStatus> {
  for (;;) {
    const standing = await look().catch(showTrouble(show));
    if (standing !== undefined && standing.change?.generation !== generation) return standing;
    if (standing?.change !== undefined) show(standing.change.line);
    await sleep(LOOK_MS);
  }
}

/** Shows an outage and goes on: a service that restarts takes the change up again. */
function showTrouble(show: (line: string) => void): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof MemoryError && error.code === "unavailable")) throw error;
    show(error.message);
    return undefined;
  };
}

/**
 * Abandons the change: the new vectors are erased, the old ones stay in use.
 *
 * @throws MemoryError `failed_precondition` if none is under way, or namespaces have begun to move.
 */
export async function abandon(systemRecords: SystemRecords): Promise<Generation> {
  const standing = (await systemRecords.plan())?.plan;
  if (standing === undefined) throw refused("the model is not being changed");
  await changePlan(systemRecords, (plan) =>
    plan.phase === "switching" ? undefined : { ...plan, phase: "abandoned" },
  );
  const now = (await systemRecords.plan())?.plan;
  if (now?.generation === standing.generation && now.phase !== "abandoned") {
    throw refused("namespaces have begun to move to the new model: let it end, then change it back");
  }
  return standing.generation;
}

/** Formats the phase, its progress and its obstacles in one line. */
function describe({ phase, modelId, progress: { done, of }, replicas }: Plan): string {
  const reports = Object.values(replicas);
  const troubles = reports.flatMap(({ trouble }) => trouble ?? []);
  const share = of > 0 ? `, ${done.toLocaleString("en-US")} of ${of.toLocaleString("en-US")} entries` : "";
  const who =
    reports.length === 0 ? "waiting for a service that uses the database" : `replicas: ${stages(reports)}`;
  return [`${phase} ${modelId}${phase === "switching" ? "" : share}`, who, ...troubles].join("; ");
}

function stages(reports: readonly { stage: string }[]): string {
  const counts = new Map<string, number>();
  for (const { stage } of reports) counts.set(stage, (counts.get(stage) ?? 0) + 1);
  return [...counts].map(([stage, count]) => `${count} ${stage}`).join(", ");
}

function newPlan(modelId: string, atOnce: boolean): Plan {
  return {
    generation: randomBytes(4).toString("hex"),
    modelId,
    phase: atOnce ? "switching" : "building",
    begunAtMs: Date.now(),
    replicas: {},
    progress: { done: 0, of: 0 },
  };
}

function refused(message: string): MemoryError {
  return new MemoryError("failed_precondition", message);
}
