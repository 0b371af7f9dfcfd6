import type { Clock } from "../../concurrency/clock.js";
import type { Caller, Quota } from "../ports/quota.js";

/** Age after which a stream proves its caller's key again before it passes anything on. */
const PROVED_FOR_MS = 1_000;

/** Proves again and again that the key of a long call still lives. */
export class Proof {
  #provedMs: number;

  /** Made right after the key was proved. */
  constructor(
    private readonly ports: { readonly quota: Quota; readonly clock: Clock },
    private readonly caller: Caller,
  ) {
    this.#provedMs = ports.clock.nowMs();
  }

  /** @throws MemoryError `unauthenticated` if the key was revoked, or its account closed. */
  async renew(): Promise<void> {
    const nowMs = this.ports.clock.nowMs();
    if (nowMs - this.#provedMs < PROVED_FOR_MS) return;
    await this.ports.quota.verify(this.caller);
    this.#provedMs = nowMs;
  }
}
