import type { HandlerContext } from "@connectrpc/connect";
import { MemoryService } from "../../../gen/recalld/v1/memory_pb.js";
import { unavailable } from "../../errors.js";

/** Calls are turned away while the event loop is late by more than this, smoothed. */
export const LOOP_DELAY_MS_MAX = 500;

/** How often its delay is looked at. */
const LOOP_CHECK_MS = 100;

/**
 * Of each new look. A single pause of less than 2.5 s, such as of a garbage collection, sheds
 * nothing; a loop that is late all the time does after half a second.
 */
const NEW_SHARE = 0.2;

/**
 * The share of each of the model's queues behind which new calls are turned away. The rest is for
 * calls that are let in already and still send their text.
 */
export const QUEUE_SHARE_MAX = 0.75;

/** Texts and queries that wait for the model, as shares of what may. */
export interface QueueShares {
  readonly text: number;
  readonly query: number;
}

/** Watches how busy this process is. */
export class Load {
  #loopDelayMs = 0;
  #dueMs = performance.now() + LOOP_CHECK_MS;
  readonly #timer = setInterval(() => this.#look(), LOOP_CHECK_MS).unref();

  constructor(private readonly queues: () => QueueShares) {}

  /** Smoothed. */
  get loopDelayMs(): number {
    return this.#loopDelayMs;
  }

  /**
   * Turns a call away that had to wait too long, before its key is looked up, its body read and
   * anything charged. Health and readiness do not ask: being busy is no reason to be sent no calls,
   * for then the other replicas would be busier still.
   *
   * @throws MemoryError `unavailable`.
   */
  admit(field: keyof QueueShares | undefined): void {
    if (this.#loopDelayMs > LOOP_DELAY_MS_MAX) throw unavailable("the server is too busy");
    if (field !== undefined && this.queues()[field] > QUEUE_SHARE_MAX) {
      throw unavailable("too many calls are waiting for the model");
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const late = Math.max(0, now - this.#dueMs);
    this.#dueMs = now + LOOP_CHECK_MS;
    this.#loopDelayMs += (late - this.#loopDelayMs) * NEW_SHARE;
  }
}

/** For the gate: what belongs to the service itself, health and reflection, is never turned away. */
export function shedLoad(load: Pick<Load, "admit">): (context: HandlerContext) => void {
  return ({ service, method }) => {
    if (!service.typeName.startsWith("recalld.")) return;
    load.admit(FIELDS.get(method.name));
  };
}

/** What the model has to read for a call. */
const FIELDS = new Map<string, keyof QueueShares>([
  [MemoryService.method.store.name, "text"],
  [MemoryService.method.recall.name, "query"],
]);
