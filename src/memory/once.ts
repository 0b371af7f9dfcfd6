import { createHash, randomUUID } from "node:crypto";
import { invalid, MemoryError, unavailable } from "../errors.js";
import { APPEND_TIMEOUT_MS } from "./appender.js";
import type { Claim, Claims } from "./claims.js";
import type { Clock } from "./clock.js";
import { findMemory } from "./find.js";
import { newMemoryId } from "./id.js";
import type { Log, Scope, Stored } from "./log.js";

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** How long a key is kept. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;
/**
 * After this an owner that has not answered is taken for dead. It makes no attempt to append later
 * than APPEND_TIMEOUT_MS; the rest is for its embedding, and for clocks that disagree.
 */
const OWNER_TIMEOUT_MS = APPEND_TIMEOUT_MS + 20_000;
/** How long a second call with the same key waits for the first, and how often it looks. */
const WAIT_MS = 10_000;
const LOOK_MS = 50;

export interface OncePorts {
  readonly claims: Claims;
  readonly log: Log;
  readonly clock: Clock;
  /** No other process can be at work on this database. */
  readonly exclusive: boolean;
}

export interface OnceRequest {
  readonly scope: Scope;
  readonly idempotencyKey: string;
  /** What makes two requests the same. */
  readonly content: readonly string[];
}

/** Makes a memory under the given id; calls `onAppend` when it may be in the log from now on. */
export type Write = (memoryId: string, onAppend: () => void) => Promise<Answered>;
/** What a store answers. */
export type Answered = Pick<Stored, "id" | "tokens" | "createdAtMs">;

/** What a store answers, and whether an earlier call had answered it before. */
export interface Outcome {
  readonly answered: Answered;
  readonly replayed: boolean;
}

/**
 * Runs a store once for an idempotency key, however often it is asked: later calls get the first
 * one's answer. Exactly one memory comes of it even when owners die, because all attempts append the
 * same operation: one that was taken over finds its number taken, or its own entry.
 */
export class Once {
  readonly #process = randomUUID();
  /** Owners that are attempts of this process and still run. */
  readonly #running = new Set<string>();

  constructor(private readonly ports: OncePorts) {}

  /**
   * @throws MemoryError `already_exists` when the key was used for another request, `unavailable`
   * when the first call takes too long; and whatever `write` throws.
   */
  async run(request: OnceRequest, write: Write): Promise<Outcome> {
    const owner = `${this.#process}:${randomUUID()}`;
    this.#running.add(owner);
    try {
      return await this.#compete(request, { owner, write });
    } finally {
      this.#running.delete(owner);
    }
  }

  async #compete(request: OnceRequest, { owner, write }: { owner: string; write: Write }): Promise<Outcome> {
    const { claims, clock } = this.ports;
    const claim = newClaim(request, { owner, claimedAtMs: clock.wallMs() });
    const deadlineMs = clock.nowMs() + WAIT_MS;
    for (;;) {
      const standing = await claims.claim(claim);
      if (standing.requestHash !== claim.requestHash) throw reused();
      if (standing.answer) return { answered: { id: standing.memoryId, ...standing.answer }, replayed: true };
      if (standing.owner === owner) return this.#own(standing, write);
      if (await this.#takeOver(standing, owner)) {
        return (await this.#finished(request.scope, standing)) ?? this.#own({ ...standing, owner }, write);
      }
      if (clock.nowMs() > deadlineMs) throw unavailable("a call with this Idempotency-Key is still running");
      await clock.sleep(LOOK_MS);
    }
  }

  async #own(claim: Claim, write: Write): Promise<Outcome> {
    let appending = false;
    try {
      const { id, tokens, createdAtMs } = await write(claim.memoryId, () => {
        appending = true;
      });
      await this.ports.claims.answer({ id: claim.id, answer: { tokens, createdAtMs } });
      return { answered: { id, tokens, createdAtMs }, replayed: false };
    } catch (error) {
      // Nothing came of it for certain: the next call with this key starts anew.
      if (!appending) await this.ports.claims.release(claim);
      throw error;
    }
  }

  /** What a dead owner left in the log already. */
  async #finished(scope: Scope, { id: claimId, memoryId }: Claim): Promise<Outcome | undefined> {
    const found = await findMemory(this.ports.log, scope, memoryId);
    if (found === undefined) return undefined;
    const { id, tokens, createdAtMs } = found;
    await this.ports.claims.answer({ id: claimId, answer: { tokens, createdAtMs } });
    return { answered: { id, tokens, createdAtMs }, replayed: true };
  }

  async #takeOver({ id, owner, claimedAtMs }: Claim, to: string): Promise<boolean> {
    const { claims, clock, exclusive } = this.ports;
    const ours = owner.startsWith(`${this.#process}:`);
    const nowMs = clock.wallMs();
    // Of its own attempts a process knows; of others', only that they must have ended by now.
    const ended = ours ? !this.#running.has(owner) : exclusive || nowMs - claimedAtMs >= OWNER_TIMEOUT_MS;
    if (!ended) return false;
    return claims.takeOver({ id, from: owner, to, claimedAtMs: nowMs });
  }
}

/** An idempotency key: 1–255 characters. */
export function parseIdempotencyKey(value: string): string {
  if (value === "") throw invalid("Idempotency-Key", "is empty");
  if (value.length <= IDEMPOTENCY_KEY_CHARS_MAX) return value;
  throw invalid(
    "Idempotency-Key",
    `is ${value.length} characters; the limit is ${IDEMPOTENCY_KEY_CHARS_MAX}`,
  );
}

function newClaim(
  { scope, idempotencyKey, content }: OnceRequest,
  { owner, claimedAtMs }: { owner: string; claimedAtMs: number },
): Claim {
  return {
    id: `${scope.accountId}:${sha256([idempotencyKey])}`,
    requestHash: sha256([scope.namespace, ...content]),
    memoryId: newMemoryId(),
    owner,
    claimedAtMs,
    expiresAtMs: claimedAtMs + IDEMPOTENCY_KEPT_MS,
  };
}

/** Of several strings, written so that no two lists are alike. */
function sha256(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function reused(): MemoryError {
  return new MemoryError("already_exists", "this Idempotency-Key was used for another request", {
    field: "Idempotency-Key",
    reason: "IDEMPOTENCY_KEY_REUSED",
  });
}
