import { randomUUID } from "node:crypto";
import { MemoryError } from "../../errors.js";
import { every } from "../../every.js";
import type { Generations } from "../generations/generations.js";
import type { Namespaces } from "../log/namespaces.js";
import type { Clock } from "../pacing/clock.js";
import { coalesce } from "../pacing/coalesce.js";
import type { Embedder, ModelIdentity } from "../ports/embedder.js";
import type { Generation } from "../ports/generation.js";
import { changePlan, type Pinned, type Plan, type ReplicaReport, type SystemRecords } from "../ports/plan.js";
import { type LeadPorts, lead, takeLead } from "./lead.js";
import { isSame } from "./pin.js";

/** Interval at which a replica reads the plan and reports its progress. */
export const PLAN_POLL_MS = 1000;
/** Time that a model is kept after its use, for the calls that still run. */
const RETIRED_MS = 60_000;

/** A model that is open for a model generation. */
export interface OpenModel extends Embedder {
  close(): Promise<void>;
}

export interface ReembeddingPorts extends LeadPorts {
  readonly systemRecords: SystemRecords;
  readonly generations: Generations;
  readonly namespaces: Namespaces;
  readonly clock: Clock;
  openModel(id: string): Promise<OpenModel>;
  /** Called with failures; the work is tried again. */
  onTrouble(error: unknown): void;
  /** Called when the plan enters a phase; undefined means that the plan has ended. */
  onPhase(phase: Plan["phase"] | undefined): void;
}

/**
 * Carries out one replica's part in a change of the database's model: it loads the plan's model, reports that
 * in the plan, prepares its open namespaces, and leads the change if no other replica does.
 */
export class Reembedding {
  readonly #replica = randomUUID();
  readonly #models = new Map<Generation, OpenModel>();
  readonly #retired = new Map<Generation, { model: OpenModel; untilMs: number }>();
  /**
   * Brings this replica in line with the database as it is when this is called, or later. A call that has found
   * a log in an unknown model generation must not be told what was true before: it would move the log back.
   */
  readonly step = coalesce(() => this.#takeStep());
  #work: Work | undefined;
  #end: (() => Promise<void>) | undefined;
  #phase: Plan["phase"] | undefined;
  /** Progress of this replica with each model generation. */
  readonly #reports = new Map<Generation, Omit<ReplicaReport, "seenAtMs">>();
  #progress: Plan["progress"] | undefined;
  #closed = false;

  /** @param first the model that the process started with, of the pinned model generation */
  constructor(
    private readonly ports: ReembeddingPorts,
    first: { generation: Generation; model: OpenModel },
  ) {
    this.#models.set(first.generation, first.model);
    ports.generations.refresh = this.step;
  }

  /** Catches up with the plan, and then does so every second. */
  async start(): Promise<void> {
    await this.step();
    this.#end = every(this.step, { everyMs: PLAN_POLL_MS, onTrouble: this.ports.onTrouble });
  }

  /** Stops work on the plan; another replica, or the next start, continues it. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end?.();
    await this.step().catch(() => {});
    await this.#stop();
    const retired = [...this.#retired.values()].map(({ model }) => model);
    for (const model of [...this.#models.values(), ...retired]) await model.close();
  }

  async #takeStep(): Promise<void> {
    if (this.#closed) return;
    const { systemRecords } = this.ports;
    await changePlan(systemRecords, (plan) => this.#reported(plan));
    const plan = (await systemRecords.plan())?.plan;
    // After the plan: one that has ended by now has pinned its model before.
    const pinned = await systemRecords.pinned();
    if (pinned === undefined) return;
    this.#settle(pinned, plan);
    await this.#closeRetired();
    if (plan?.phase !== this.#phase) this.ports.onPhase(plan?.phase);
    this.#phase = plan?.phase;
    if (plan === undefined) this.#progress = undefined;
    if (this.#work && (plan === undefined || !this.#work.isOf(plan))) await this.#stop();
    if (plan !== undefined) this.#work ??= this.#begin(plan);
  }

  /** Takes over the database's model generations; models of others are retired. */
  #settle({ model, generation, previous }: Pinned, plan: Plan | undefined): void {
    const { generations, namespaces } = this.ports;
    const needed = new Map<Generation, Wanted>([[generation, model]]);
    if (plan !== undefined && plan.phase !== "abandoned") {
      needed.set(plan.generation, plan.model ?? { id: plan.modelId });
    }
    generations.newest = plan?.phase === "switching" ? plan.generation : generation;
    generations.needed = new Set(needed.keys());
    generations.known = new Set([...needed.keys(), ...(previous ? [previous.generation] : [])]);
    for (const [each, wanted] of needed) if (!this.#takeBack(each)) this.#load(each, wanted);
    for (const each of this.#models.keys()) if (!needed.has(each)) this.#retire(each);
    if (needed.size === 1) namespaces.unprepare();
  }

  /** Tells whether a model is open; a retired one is taken back while it is kept. */
  #takeBack(generation: Generation): boolean {
    const retired = this.#retired.get(generation);
    if (retired !== undefined) this.#models.set(generation, retired.model);
    this.#retired.delete(generation);
    return this.#models.has(generation);
  }

  #load(generation: Generation, wanted: Wanted): void {
    const { generations, openModel, onTrouble } = this.ports;
    if (!generations.startLoading(generation)) return;
    this.#reports.set(generation, { stage: "loading" });
    const opened = openModel(wanted.id).then(async (model) => {
      if (this.#closed) return model.close();
      if ("revision" in wanted && !isSame(model.model, wanted)) {
        generations.giveUp(generation, { forGood: true });
        await model.close();
        throw new MemoryError("failed_precondition", `model ${wanted.id} has another revision here`);
      }
      this.#models.set(generation, model);
      generations.add(generation, model);
      this.#reports.set(generation, { stage: "loaded" });
    });
    opened.catch((error: unknown) => {
      // Calls no longer wait for it, and the next step tries again.
      generations.giveUp(generation, { forGood: false });
      const trouble = error instanceof MemoryError ? error.message : String(error);
      this.#reports.set(generation, { stage: "failed", trouble });
      onTrouble(error);
    });
  }

  #retire(generation: Generation): void {
    const model = this.#models.get(generation);
    if (model === undefined) return;
    this.#models.delete(generation);
    this.#retired.set(generation, { model, untilMs: this.ports.clock.nowMs() + RETIRED_MS });
  }

  async #closeRetired(): Promise<void> {
    for (const [generation, { model, untilMs }] of this.#retired) {
      if (this.ports.clock.nowMs() < untilMs) continue;
      this.#retired.delete(generation);
      this.ports.generations.remove(generation);
      await model.close();
    }
  }

  /** Answers the plan with this replica's report. */
  #reported(plan: Plan): Plan {
    const { clock, exclusive } = this.ports;
    const nowMs = clock.wallMs();
    const model = this.#models.get(plan.generation)?.model;
    const said = this.#reports.get(plan.generation) ?? { stage: "loading" };
    const replicas = { ...plan.replicas, [this.#replica]: { ...said, seenAtMs: nowMs } };
    const reported = { ...plan, replicas, ...(model && !plan.model && { model }) };
    const led = takeLead(reported, { replica: this.#replica, nowMs, exclusive });
    const leads = led.lead?.replica === this.#replica;
    return leads && this.#progress ? { ...led, progress: this.#progress } : led;
  }

  /**
   * Begins this replica's work for the plan's phase. It runs beside the steps until it is done or stopped.
   */
  #begin(plan: Plan): Work {
    const stopping = new AbortController();
    const leads = plan.lead?.replica === this.#replica;
    const done = this.#take(plan, { leads, signal: stopping.signal })
      .catch((error) => {
        if (!stopping.signal.aborted) this.ports.onTrouble(error);
      })
      .finally(() => {
        this.#work = undefined;
      });
    const isOf = (now: Plan) =>
      now.generation === plan.generation &&
      now.phase === plan.phase &&
      leads === (now.lead?.replica === this.#replica);
    return { isOf, stopping, done };
  }

  async #take(plan: Plan, { leads, signal }: { leads: boolean; signal: AbortSignal }): Promise<void> {
    const { generations, namespaces } = this.ports;
    if (!generations.has(plan.generation) && plan.phase !== "abandoned") return;
    if (plan.phase === "warming") {
      await namespaces.prepare(plan.generation);
      this.#reports.set(plan.generation, { stage: "warm" });
    }
    const onProgress = (progress: Plan["progress"]) => {
      this.#progress = progress;
    };
    if (leads) await lead(this.ports, { plan, signal, onProgress });
  }

  async #stop(): Promise<void> {
    this.#work?.stopping.abort();
    await this.#work?.done;
  }
}

/** A model whose identity is known, or only its name. */
type Wanted = ModelIdentity | Pick<ModelIdentity, "id">;

interface Work {
  readonly stopping: AbortController;
  readonly done: Promise<void>;
  /** Tells whether the plan still requires it. */
  isOf(plan: Plan): boolean;
}
