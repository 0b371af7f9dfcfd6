import { createHash, randomUUID } from "node:crypto";
import { invalid, MemoryError, unavailable } from "../../errors.js";
import { newMemoryId } from "../input/id.js";
import { APPEND_TIMEOUT_MS } from "../log/appender.js";
import { findMemory } from "../log/fetch.js";
import type { Clock } from "../pacing/clock.js";
import type { Claim, Claims } from "../ports/claims.js";
import type { Log, Scope, Stored } from "../ports/log.js";

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** How long a key is kept. */
export const IDEMPOTENCY_KEPT_MS = 24 * 60 * 60 * 1000;
/**
 * After this an owner that has not answered is taken for dead: the time to append, to embed, and for
 * clocks that disagree. Nothing depends on whether it is: one that only slept finds out that it lost the claim.
 */
const OWNER_TIMEOUT_MS = APPEND_TIMEOUT_MS + 20_000;
/** How long a second call with the same key waits for the first, and how often it looks. */
const WAIT_MS = 10_000;
const LOOK_MS = 50;
/** How often it is tried to keep what is answered. */
const ANSWER_ATTEMPTS_MAX = 3;

/** When a claim was made that whoever comes next may take over. */
const LONG_AGO_MS = 0;

export interface OncePorts {
  readonly claims: Claims;
  readonly log: Log;
  readonly clock: Clock;
  /** No other process can be at work on this database. */
  readonly exclusive: boolean;
  /** Told of failures that no caller is told. */
  onTrouble?(error: unknown): void;
}

export interface IdempotentRequest {
  readonly scope: Scope;
  readonly idempotencyKey: string;
  /** What makes two requests the same. */
  readonly content: readonly string[];
  /** The same as an earlier version compared it, whose claims may still stand; left out, `content`. */
  readonly earlierContent?: readonly string[];
}

/** One attempt to store the memory of an idempotency key. */
export interface Attempt {
  readonly memoryId: string;
  /**
   * Must be awaited after the log was chosen and before the memory is appended to it: another attempt
   * may have taken the key over, and what that one stored may be deleted by now.
   */
  confirm(): Promise<void>;
}

export interface IdempotentWork {
  /** Stores the memory, if no attempt has stored it before. */
  write(attempt: Attempt): Promise<Answered>;
  /** Gives back what `write` cost: another attempt was answered first. Never throws. */
  undo(): Promise<void>;
}

/** What a store answers. */
export type Answered = Pick<Stored, "id" | "tokens" | "createdAtMs">;

/** What a store answers, and whether an earlier call had answered it before. */
export interface Outcome {
  readonly answered: Answered;
  readonly replayed: boolean;
}

/** Thrown in an attempt whose key another attempt has taken over. */
class TakenOver extends Error {}

/**
 * Runs a store once for an idempotency key, however often it is asked: later calls get the first
 * one's answer. Exactly one memory comes of it even when owners die or sleep: an attempt appends only
 * to a log that it chose while it held the claim, and only if that log has never held the memory.
 */
export class Idempotency {
  readonly #process = randomUUID();
  /** Owners that are attempts of this process and still run. */
  readonly #running = new Set<string>();

  constructor(private readonly ports: OncePorts) {}

  /**
   * @throws MemoryError `already_exists` when the key was used for another request,
   * `failed_precondition` when its memory was deleted since, `unavailable` when the first call takes too
   * long; and whatever `write` throws.
   */
  async run(request: IdempotentRequest, work: IdempotentWork): Promise<Outcome> {
    const owner = `${this.#process}:${randomUUID()}`;
    this.#running.add(owner);
    try {
      return await this.#compete(request, { owner, work });
    } finally {
      this.#running.delete(owner);
    }
  }

  async #compete(
    request: IdempotentRequest,
    { owner, work }: { owner: string; work: IdempotentWork },
  ): Promise<Outcome> {
    const { claims, clock } = this.ports;
    const claim = newClaim(request, { owner, claimedAtMs: clock.wallMs() });
    const deadlineMs = clock.nowMs() + WAIT_MS;
    for (;;) {
      const standing = await claims.claim(claim);
      if (standing.requestHash !== claim.requestHash && standing.requestHash !== earlierHash(request)) {
        throw reused();
      }
      if (standing.answer) return this.#replay(request.scope, { id: standing.memoryId, ...standing.answer });
      if (standing.owner === owner || (await this.#takeOver(standing, owner))) {
        const isNew = standing.memoryId === claim.memoryId;
        const outcome = await this.#own({ ...standing, owner, isNew }, work);
        if (outcome !== undefined) return outcome;
      }
      if (clock.nowMs() > deadlineMs) throw unavailable("a call with this Idempotency-Key is still running");
      await clock.sleep(LOOK_MS);
    }
  }

  /** Undefined when another attempt has taken the claim over. */
  async #own(
    { isNew, ...claim }: Claim & { isNew: boolean },
    { write, undo }: IdempotentWork,
  ): Promise<Outcome | undefined> {
    let appending = false;
    const confirm = async () => {
      if (!(await this.#holds(claim))) throw new TakenOver();
      appending = true;
    };
    try {
      const { id, tokens, createdAtMs } = await write({ memoryId: claim.memoryId, confirm });
      const answered = { id, tokens, createdAtMs };
      let isFirst = false;
      try {
        isFirst = await this.#keepAnswer(claim, answered);
      } finally {
        if (!isFirst) await undo();
      }
      return { answered, replayed: !isFirst };
    } catch (error) {
      if (error instanceof TakenOver) return undefined;
      if (!appending) await this.#letGo(claim, { isNew });
      throw error;
    }
  }

  /** By a write, so that no server of the database can answer what was true before. */
  #holds({ id, owner }: Claim): Promise<boolean> {
    const { claims, clock } = this.ports;
    return claims.takeOver({ id, from: owner, to: owner, claimedAtMs: clock.wallMs() });
  }

  /**
   * Whether no other attempt was answered before. A caller is told only what is kept: else a later call
   * would store again what was deleted meanwhile.
   */
  async #keepAnswer({ id, owner }: Claim, { tokens, createdAtMs }: Answered): Promise<boolean> {
    const { claims, clock } = this.ports;
    for (let attempt = 1; ; attempt++) {
      try {
        return await claims.answer({ id, owner, answer: { tokens, createdAtMs } });
      } catch (error) {
        if (attempt === ANSWER_ATTEMPTS_MAX) throw error;
        await clock.sleep(LOOK_MS);
      }
    }
  }

  /** Lets the next call with this key begin at once. The caller is told why the store failed, not this. */
  async #letGo({ id, owner }: Claim, { isNew }: { isNew: boolean }): Promise<void> {
    const { claims, onTrouble } = this.ports;
    // What an earlier owner may still append must keep its id.
    const letGo = isNew
      ? claims.release({ id, owner })
      : claims.takeOver({ id, from: owner, to: owner, claimedAtMs: LONG_AGO_MS });
    await letGo.catch((error) => onTrouble?.(error));
  }

  /** Whoever stores a text again that was deleted must not believe that it is there. */
  async #replay(scope: Scope, answered: Answered): Promise<Outcome> {
    if ((await findMemory(this.ports.log, scope, answered.id)) === undefined) throw deletedSince();
    return { answered, replayed: true };
  }

  async #takeOver({ id, owner, claimedAtMs }: Claim, to: string): Promise<boolean> {
    const { claims, clock, exclusive } = this.ports;
    const ours = owner.startsWith(`${this.#process}:`);
    const nowMs = clock.wallMs();
    // Of its own attempts a process knows; others are given the time that they need at most, if they live.
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
  { scope, idempotencyKey, content }: IdempotentRequest,
  { owner, claimedAtMs }: { owner: string; claimedAtMs: number },
): Claim {
  return {
    id: `${scope.accountId}:${sha256([idempotencyKey])}`,
    requestHash: hashOf(scope, content),
    memoryId: newMemoryId(),
    owner,
    claimedAtMs,
    expiresAtMs: claimedAtMs + IDEMPOTENCY_KEPT_MS,
  };
}

function earlierHash({ scope, content, earlierContent = content }: IdempotentRequest): string {
  return hashOf(scope, earlierContent);
}

function hashOf({ namespace }: Scope, content: readonly string[]): string {
  return sha256([namespace, ...content]);
}

/** Of several strings, written so that no two lists are alike. */
function sha256(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function deletedSince(): MemoryError {
  return new MemoryError(
    "failed_precondition",
    "the memory that this Idempotency-Key stored was deleted since; store it with another key",
    { field: "Idempotency-Key", reason: "IDEMPOTENT_MEMORY_DELETED" },
  );
}

function reused(): MemoryError {
  return new MemoryError("already_exists", "this Idempotency-Key was used for another request", {
    field: "Idempotency-Key",
    reason: "IDEMPOTENCY_KEY_REUSED",
  });
}
