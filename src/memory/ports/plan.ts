import type { ModelIdentity } from "./embedder.js";
import type { Generation } from "./generation.js";

/** The change of a database's model while it is under way, as all replicas see it. */
export interface Plan {
  /** Of the vectors that are being made; a new one for each plan. */
  readonly generation: Generation;
  /** Where the model is found: `bundled`, or the hub's id. */
  readonly modelId: string;
  /** What the first replica that loaded it found. */
  readonly model?: ModelIdentity;
  /**
   * `building`: all logs are being copied. `warming`: every replica opens the copies of what it has open.
   * `switching`: namespaces move, and new ones come into being in the new model generation. `abandoned`: the
   * copies are being erased.
   */
  readonly phase: "building" | "warming" | "switching" | "abandoned";
  readonly begunAtMs: number;
  /** The replica that copies and moves, and until when it is taken for alive, by the wall clock. */
  readonly lead?: { readonly replica: string; readonly untilMs: number };
  /** What each replica says of itself. */
  readonly replicas: Readonly<Record<string, ReplicaReport>>;
  /** Entries of all logs, and how many of them are copied. */
  readonly progress: { readonly done: number; readonly of: number };
}

export interface ReplicaReport {
  readonly stage: "loading" | "loaded" | "warm" | "failed";
  readonly seenAtMs: number;
  /** Why it failed. */
  readonly trouble?: string;
}

/** The model whose vectors a database holds. */
export interface Pinned {
  readonly model: ModelIdentity;
  readonly generation: Generation;
  /** Of the model before, if it was changed. */
  readonly previous?: { readonly generation: Generation; readonly modelId: string };
}

/** A plan and its version: a larger one for each change, of this plan and of all after it. */
export interface Versioned {
  readonly plan: Plan;
  readonly version: number;
}

/** The port to the records that hold for a whole database. Every adapter passes `test/contract/system-records.ts`. */
export interface SystemRecords {
  /** The model whose vectors the database holds: the given one if none was pinned before. */
  pinModel(model: ModelIdentity): Promise<Pinned>;
  /** The model whose vectors the database holds, if it was pinned. */
  pinned(): Promise<Pinned | undefined>;
  /** Pins another one in place of that with the given model generation. */
  repin(of: { from: Generation; to: Pinned }): Promise<void>;
  plan(): Promise<Versioned | undefined>;
  /** Keeps `to` if the plan's version is still `from` (0: none is there); undefined takes it away. */
  replacePlan(of: { from: number; to: Plan | undefined }): Promise<boolean>;
}

/** A change is tried again when another replica came between. */
const ATTEMPTS_MAX = 20;

/** Changes the plan; `change` may be called again on a newer one, and answers undefined to leave it. */
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
