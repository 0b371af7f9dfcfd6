import type { ModelIdentity } from "./embedder.js";
import type { Generation } from "./generation.js";

/** A running change of a database's model, as all replicas see it. */
export interface Plan {
  /** Model generation of the new vectors; each plan has a new one. */
  readonly generation: Generation;
  /** Source of the model: `bundled`, or the hub's id. */
  readonly modelId: string;
  /** Identity of the model, from the first replica that loaded it. */
  readonly model?: ModelIdentity;
  /**
   * `building`: all logs are being copied. `warming`: every replica opens the copies of its open namespaces.
   * `switching`: namespaces move, and new ones are created in the new model generation. `abandoned`: the
   * copies are being erased.
   */
  readonly phase: "building" | "warming" | "switching" | "abandoned";
  readonly begunAtMs: number;
  /** The replica that copies and moves, and the time until which it counts as alive, by the wall clock. */
  readonly lead?: { readonly replica: string; readonly untilMs: number };
  /** Reports of the replicas, by replica. */
  readonly replicas: Readonly<Record<string, ReplicaReport>>;
  /** Number of entries in all logs, and of those that are copied. */
  readonly progress: { readonly done: number; readonly of: number };
}

export interface ReplicaReport {
  readonly stage: "loading" | "loaded" | "warm" | "failed";
  readonly seenAtMs: number;
  /** Reason of a failure. */
  readonly trouble?: string;
}

/** The model of a database's vectors. */
export interface Pinned {
  readonly model: ModelIdentity;
  readonly generation: Generation;
  /** Model generation and id of the model before, if it was changed. */
  readonly previous?: { readonly generation: Generation; readonly modelId: string };
}

/** A plan and its version, which grows with each change of this plan and of later ones. */
export interface Versioned {
  readonly plan: Plan;
  readonly version: number;
}

/** The port to the records of a whole database. Every adapter passes `test/contract/system-records.ts`. */
export interface SystemRecords {
  /** Pins the given model if the database has none; answers the pinned one. */
  pinModel(model: ModelIdentity): Promise<Pinned>;
  /** Reads the pinned model, if the database has one. */
  pinned(): Promise<Pinned | undefined>;
  /** Pins another model in place of the one with the given model generation. */
  repin(of: { from: Generation; to: Pinned }): Promise<void>;
  plan(): Promise<Versioned | undefined>;
  /**
   * Writes `to` if the plan's version is still `from` (0 means no plan); an undefined `to` removes the plan.
   */
  replacePlan(of: { from: number; to: Plan | undefined }): Promise<boolean>;
}

/** Maximum number of attempts to change the plan while other replicas change it. */
const ATTEMPTS_MAX = 20;

/** Changes the plan. `change` may be called again with a newer plan, and answers undefined to keep it. */
export async function changePlan(
  systemRecords: SystemRecords,
  change: (plan: Plan) => Plan | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const standing = await systemRecords.plan();
    const to = standing && change(standing.plan);
    if (standing === undefined || to === undefined) return;
    if (await systemRecords.replacePlan({ from: standing.version, to })) return;
  }
}
