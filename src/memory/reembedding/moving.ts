import { setMaxListeners } from "node:events";
import { every } from "../../concurrency/every.js";
import { allNames } from "../log/walk.js";
import type { ModelIdentity } from "../ports/embedder.js";
import type { ModelVersion } from "../ports/model-version.js";
import { type LostName, lostName, type Named, type Scope } from "../ports/names.js";
import { type MovePorts, tend } from "./move.js";

/** Interval at which a process reads which model is pinned. */
const POLL_MS = 1000;
/** Time after a walk through all namespaces to the next one: if some could not be moved, and if none was left. */
const RETRY_MS = 10_000;
export const REST_MS = 600_000;

export interface MovingPorts extends MovePorts {
  /** Called with failures; the work is tried again. */
  onTrouble(error: unknown): void;
  /** Called after a walk that has moved namespaces to a model. */
  onMoved(model: ModelIdentity, namespaces: number): void;
}

/**
 * Follows the model that the database is pinned to: once it is loaded, all namespaces are moved to it, one after
 * another. Processes know nothing of each other: two that move the same log do the same work twice.
 */
export class Moving {
  /** Model version that this process moves to, or has moved to. */
  #toward: ModelVersion | undefined;
  #walk: { readonly stopping: AbortController; readonly done: Promise<void> } | undefined;
  #dueMs = 0;
  #end: (() => Promise<void>) | undefined;

  constructor(private readonly ports: MovingPorts) {}

  start(): void {
    this.#end = every(() => this.step(), {
      everyMs: POLL_MS,
      immediately: true,
      onTrouble: this.ports.onTrouble,
    });
  }

  /** Stops the work; another process, or the next start, goes on with it. */
  async close(): Promise<void> {
    await this.#end?.();
    await this.#stop();
  }

  /** Reads which model is pinned, and begins a walk if it is time for one. */
  async step(): Promise<void> {
    const { modelVersions, clock } = this.ports;
    await modelVersions.refresh();
    const { modelVersion, model } = modelVersions.pins.present;
    if (modelVersion !== this.#toward) {
      await this.#stop();
      this.#toward = modelVersion;
      this.#dueMs = clock.nowMs();
    }
    const isDue = this.#walk === undefined && clock.nowMs() >= this.#dueMs;
    if (!isDue || modelVersions.pins.all.length === 1 || !modelVersions.has(modelVersion)) return;
    const stopping = new AbortController();
    // Each text that is embedded listens, which is no leak.
    setMaxListeners(0, stopping.signal);
    const done = this.#walkAll(model, stopping.signal).finally(() => {
      this.#walk = undefined;
    });
    this.#walk = { stopping, done };
  }

  async #stop(): Promise<void> {
    this.#walk?.stopping.abort();
    await this.#walk?.done;
  }

  async #walkAll(model: ModelIdentity, signal: AbortSignal): Promise<void> {
    const { clock, onTrouble, onMoved } = this.ports;
    let found = 0;
    let failed = false;
    const fail = (error: unknown) => {
      failed = true;
      if (!signal.aborted) onTrouble(error);
    };
    try {
      for await (const named of this.#names()) {
        if (signal.aborted) break;
        // One that cannot be moved now must not hold up the others.
        if ("lost" in named) fail(lostName(named));
        else if (await tend(this.ports, named, signal).catch(fail)) found++;
      }
    } catch (error) {
      fail(error);
    }
    if (found > 0) onMoved(model, found);
    this.#dueMs = clock.nowMs() + (failed ? RETRY_MS : found > 0 ? 0 : REST_MS);
  }

  /** Walks through all namespaces, beginning at a random one: other processes begin elsewhere. */
  async *#names(): AsyncGenerator<Named | LostName> {
    const { names, clock } = this.ports;
    let first: Scope | undefined;
    let count = 0;
    for await (const { scope } of allNames(names)) if (clock.random() * ++count < 1) first = scope;
    yield* allNames(names, { after: first });
    for await (const named of allNames(names)) {
      yield named;
      if (named.scope.accountId === first?.accountId && named.scope.namespace === first.namespace) return;
    }
  }
}
