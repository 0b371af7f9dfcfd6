import { createHash, randomUUID } from "node:crypto";
import { failedPrecondition, invalid, MemoryError, unavailable } from "../../errors.js";
import { APPEND_TIMEOUT_MS } from "../log/appender.js";
import type { Answered, Claim, ClaimAnswer, Claims } from "../ports/claims.js";
import type { Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { newMemoryId } from "../requests/id.js";
import { findInNamespace } from "../versions/fetch.js";

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
/** Lifetime of a key. */
export const IDEMPOTENCY_TTL_MS = 24 * 60 * 60 * 1000;

export interface IdempotentRequest {
  readonly scope: Scope;
  readonly idempotencyKey: string;
  /** Content by which two requests are compared. */
  readonly content: readonly string[];
  /** True if the key is for several memories: the caller of `run` then finds out which were deleted. */
  readonly isBatch?: boolean;
}

/**
 * Time after which an owner without an answer counts as dead: enough to embed, to append, and for clocks that
 * differ. Correctness does not depend on it: an owner that only slept finds out that it lost the claim.
 */
const OWNER_TIMEOUT_MS = APPEND_TIMEOUT_MS + 20_000;
/** Time that a second call with the same key waits for the first, and the interval at which it polls the claim. */
const WAIT_MS = 10_000;
const POLL_MS = 50;

/** Creation time of a claim that the next caller may take over at once. */
const LONG_AGO_MS = 0;

interface IdempotencyPorts
  extends Pick<DomainPorts, "claims" | "log" | "names" | "secondaryIndexes" | "clock"> {
  /** True if no other process can use this database. */
  readonly exclusive: boolean;
}

/** One attempt to store the memory of an idempotency key. */
export interface Attempt {
  readonly memoryId: string;
  /** True if no attempt before this one can have stored anything. */
  readonly isFirst: boolean;
  /** True if the earlier attempts have failed: what they may have stored, besides `stored`, is not paid. */
  readonly isRefunded: boolean;
  /** Positions in a batch of what earlier attempts know to have stored, which is paid. */
  readonly stored: readonly number[];
  /**
   * Proves that the attempt still holds the claim. It must be awaited after the log is chosen and before the
   * memory is appended: another attempt may have taken the key over, and its memory may be deleted by now.
   */
  confirm(): Promise<void>;
}

export interface IdempotentWork {
  /** Stores the memory, if no attempt has stored it before. */
  write(attempt: Attempt): Promise<Answered>;
  /** Positions in a batch of what is known to be stored. */
  stored(): readonly number[];
  /**
   * Refunds what was written for nothing, because another attempt may have been answered first; `paid` are positions of
   * what it has paid for. Never throws.
   */
  undo(paid: readonly number[]): Promise<void>;
}

/** Answer of a store, and whether it repeats an earlier answer. */
export interface Outcome {
  readonly answered: Answered;
  readonly replayed: boolean;
}

/** Thrown in an attempt whose key another attempt has taken over. */
class ClaimTakenOverError extends Error {
  override readonly name = "ClaimTakenOverError";
  override readonly message = "another attempt has taken over the claim";
}

/** Thrown by work that was done in part: a later call with the key, which is free then, does the rest. */
export class UnfinishedBatchError extends Error {
  override readonly name = "UnfinishedBatchError";
  override readonly message = "some of the batch is not stored";
}

/**
 * Runs a store once for each idempotency key: later calls get the first one's answer. Exactly one memory is
 * stored even if owners die or sleep: an attempt appends only to a log that it chose while it held the claim,
 * and only if that log has never held the memory.
 */
export class Idempotency {
  readonly #process = randomUUID();
  /** Owners that are running attempts of this process. */
  readonly #running = new Set<string>();

  constructor(private readonly ports: IdempotencyPorts) {}

  /**
   * @throws MemoryError `already_exists` when the key was used for another request,
   * `failed_precondition` when its memory was deleted since, `unavailable` when the first call takes too
   * long; and whatever `write` throws.
   */
  async run(request: IdempotentRequest, work: IdempotentWork): Promise<Outcome> {
    const { scope, idempotencyKey, content } = request;
    const { claims, clock } = this.ports;
    const owner = `${this.#process}:${randomUUID()}`;
    const claimedAtMs = clock.wallMs();
    const claim: Claim = {
      id: `${scope.accountId}:${sha256([idempotencyKey])}`,
      requestHash: sha256([scope.namespace, ...content]),
      memoryId: newMemoryId(),
      owner,
      claimedAtMs,
      expiresAtMs: claimedAtMs + IDEMPOTENCY_TTL_MS,
    };
    const deadlineMs = clock.nowMs() + WAIT_MS;
    this.#running.add(owner);
    try {
      for (;;) {
        const existing = await claims.findOrInsert(claim, claimedAtMs);
        if (existing.requestHash !== claim.requestHash) throw reused();
        if (existing.answer) return this.#replay(request, existing.answer, existing.memoryId);
        if (existing.owner === owner || (await this.#takeOver(existing, owner))) {
          // Not by the memory's id: others may have taken this call's claim over, and have written for it.
          const isNew = existing.owner === owner;
          const outcome = await this.#own({ ...existing, owner }, { isNew, request, work });
          if (outcome !== undefined) return outcome;
        }
        if (clock.nowMs() > deadlineMs)
          throw unavailable("a call with this Idempotency-Key is still running");
        await clock.sleep(POLL_MS);
      }
    } finally {
      this.#running.delete(owner);
    }
  }

  /** Runs one attempt; returns undefined if another attempt has taken the claim over. */
  async #own(
    { id, owner, memoryId, refunded: isRefunded = false, stored = [] }: Claim,
    { isNew, request, work }: { isNew: boolean; request: IdempotentRequest; work: IdempotentWork },
  ): Promise<Outcome | undefined> {
    const { claims, clock } = this.ports;
    const { isBatch = false } = request;
    /** Gives the claim a new owner if it still has this one and no answer. To the same owner it proves that it is held. */
    const hold = (how: Pick<Claim, "claimedAtMs" | "refunded" | "stored">, to = owner) =>
      claims.update({ id, owner, answer: undefined }, { owner: to, ...how });
    /** Frees the key. Nobody owns it then: a confirmation that arrives a second time must not take it again. */
    const letGo = (how: Pick<Claim, "refunded" | "stored">) =>
      hold({ claimedAtMs: LONG_AGO_MS, ...how }, randomUUID());
    const isPaid = !isNew && !isRefunded;
    let appending = false;
    let isWritten = false;
    const confirm = async () => {
      // Proved by a write, because a read may reach a server of the database that lags behind.
      if (!(await hold({ claimedAtMs: clock.wallMs(), refunded: false }))) throw new ClaimTakenOverError();
      appending = true;
    };
    try {
      const answered = await work.write({ memoryId, isFirst: isNew, isRefunded, stored, confirm });
      isWritten = true;
      const answer = answerOf(answered, memoryId);
      let recorded: ClaimAnswer | undefined;
      try {
        // The caller gets no answer that is not recorded: otherwise a later call could store again a memory that was deleted since.
        recorded = await recordAnswer(claims, { id, owner, answer });
      } finally {
        if (recorded !== answer) await work.undo(recorded?.paid ?? []);
      }
      // Whoever was answered first may have deleted it since.
      return recorded === answer
        ? { answered, replayed: false }
        : await this.#replay(request, answer, memoryId);
    } catch (error) {
      if (error instanceof ClaimTakenOverError) return undefined;
      const positions = [...new Set([...stored, ...work.stored()])];
      const part = positions.length > 0 && { stored: positions };
      if (error instanceof UnfinishedBatchError && part) {
        if (await letGo({ refunded: true, ...part })) throw error;
        return undefined;
      }
      // Some of several memories may be written, or be written still, though another was refused.
      const isNothing = !appending || (!isBatch && isRefusal(error));
      if (isNothing || !isWritten || isRefusal(error)) {
        // An earlier owner may still append its memory, so the id must stay the same.
        const isUnused = isNew && isNothing;
        // The attempt before this one may have stored what it was to store, and so has paid.
        const refunded = !isPaid || appending;
        const freed = isUnused ? claims.remove({ id, owner }) : letGo({ refunded, ...part });
        // The caller is told why the store failed, not an error of this step: a key that was not freed is taken over by
        // the next call once its owner counts as dead.
        await freed.catch(() => {});
      }
      throw error;
    }
  }

  /** Refuses a replay whose memory was deleted: the caller must not believe that it exists. */
  async #replay(
    { scope, isBatch = false }: IdempotentRequest,
    { similar, ...answer }: ClaimAnswer,
    memoryId: string,
  ): Promise<Outcome> {
    const answered = { id: memoryId, ...answer };
    if (isBatch) return { answered, replayed: true };
    const others = similar?.map(({ id }) => id) ?? [];
    const ids = [answered.id, ...others];
    const found = await findInNamespace(this.ports, scope, { ids, projection: "text" });
    if (!found.has(answered.id)) throw deletedSince();
    // Those that were deleted since are left out.
    const left = similar?.flatMap((each) => {
      const memory = found.get(each.id);
      return memory === undefined ? [] : [{ ...each, text: memory.text }];
    });
    return { answered: { ...answered, ...(left && { similar: left }) }, replayed: true };
  }

  async #takeOver({ id, owner, claimedAtMs }: Claim, to: string): Promise<boolean> {
    const { claims, clock, exclusive } = this.ports;
    const ours = owner.startsWith(`${this.#process}:`);
    const nowMs = clock.wallMs();
    // A process knows whether its own attempts run; those of others get the maximum time that they need. A clock that was
    // ahead may have said when they began.
    const isOld = Math.abs(nowMs - claimedAtMs) >= OWNER_TIMEOUT_MS;
    const ended = ours ? !this.#running.has(owner) : exclusive || isOld;
    if (!ended) return false;
    return claims.update({ id, owner, answer: undefined }, { owner: to, claimedAtMs: nowMs });
  }
}

/**
 * Records an owner's answer, and makes it the claim's owner, unless another answer was recorded before. Returns the answer that
 * is valid; undefined if the claim was freed meanwhile, and is another call's.
 */
export async function recordAnswer(
  claims: Pick<Claims, "update" | "find">,
  { id, owner, answer }: Pick<Claim, "id" | "owner"> & { readonly answer: ClaimAnswer },
): Promise<ClaimAnswer | undefined> {
  if (await claims.update({ id, answer: undefined }, { owner, answer })) return answer;
  const existing = await claims.find(id);
  // A claim that has expired meanwhile has no other answer either.
  return existing === undefined || existing.owner === owner ? answer : existing.answer;
}

function answerOf({ id, similar, ...answered }: Answered, memoryId: string): ClaimAnswer {
  return {
    ...answered,
    ...(id !== memoryId && { id }),
    ...(similar && { similar: similar.map((each) => ({ id: each.id, score: each.score })) }),
  };
}

/** True if nothing was written, nor will be: the namespace's memories did not allow it. */
function isRefusal(error: unknown): boolean {
  return error instanceof MemoryError && error.code !== "unavailable" && error.code !== "internal";
}

export function deletedSince(): MemoryError {
  return failedPrecondition(
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

/** Parses an idempotency key: 1–255 characters. */
export function parseIdempotencyKey(value: string): string {
  if (value === "") throw invalid("Idempotency-Key", "is empty");
  if (value.length <= IDEMPOTENCY_KEY_CHARS_MAX) return value;
  throw invalid(
    "Idempotency-Key",
    `is ${value.length} characters; the limit is ${IDEMPOTENCY_KEY_CHARS_MAX}`,
  );
}

/** Hashes several strings, encoded so that different lists never collide. */
function sha256(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
