import { createHash, randomUUID } from "node:crypto";
import { invalid, MemoryError, unavailable } from "../errors.js";
import { APPEND_TIMEOUT_MS } from "./appender.js";
import type { Claim, Claims } from "./claims.js";
import type { Clock } from "./clock.js";
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
export type Write = (memoryId: string, onAppend: () => void) => Promise<Stored>;
/** What a store answers. */
export type Answered = Pick<Stored, "id" | "tokens" | "createdAtMs">;

const PROCESS = randomUUID();
/** Owners that are attempts of this process and still run. */
const running = new Set<string>();

/**
 * Runs a store once for an idempotency key, however often it is asked: later calls get the first
 * one's answer. Exactly one memory comes of it even when owners die, because all attempts append the
 * same operation: one that was taken over finds its number taken, or its own entry.
 *
 * @throws MemoryError `already_exists` when the key was used for another request, `unavailable` when
 * the first call takes too long; and whatever `write` throws.
 */
export async function once(
  ports: OncePorts,
  request: OnceRequest,
  write: Write,
): Promise<{ answered: Answered; replayed: boolean }> {
  const owner = `${PROCESS}:${randomUUID()}`;
  const claim = newClaim(request, owner);
  const deadlineMs = ports.clock.nowMs() + WAIT_MS;
  running.add(owner);
  try {
    for (;;) {
      const standing = await ports.claims.claim(claim);
      if (standing.requestHash !== claim.requestHash) throw reused();
      if (standing.answer) return { answered: { id: standing.memoryId, ...standing.answer }, replayed: true };
      if (standing.owner === owner) return { answered: await own(ports, standing, write), replayed: false };
      if (await takeOver(ports, standing, owner))
        return await resume(ports, { request, standing, owner }, write);
      if (ports.clock.nowMs() > deadlineMs)
        throw unavailable("a call with this Idempotency-Key is still running");
      await ports.clock.sleep(LOOK_MS);
    }
  } finally {
    running.delete(owner);
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

async function own({ claims }: OncePorts, claim: Claim, write: Write): Promise<Answered> {
  let appending = false;
  try {
    const { id, tokens, createdAtMs } = await write(claim.memoryId, () => {
      appending = true;
    });
    await claims.answer({ id: claim.id, answer: { tokens, createdAtMs } });
    return { id, tokens, createdAtMs };
  } catch (error) {
    // Nothing came of it for certain: the next call with this key starts anew.
    if (!appending) await claims.release(claim);
    throw error;
  }
}

/** Takes up what a dead owner left: its memory may be in the log already. */
async function resume(
  ports: OncePorts,
  { request, standing, owner }: { request: OnceRequest; standing: Claim; owner: string },
  write: Write,
): Promise<{ answered: Answered; replayed: boolean }> {
  const found = await findInLog(ports.log, request.scope, standing.memoryId);
  if (found === undefined)
    return { answered: await own(ports, { ...standing, owner }, write), replayed: false };
  const { id, tokens, createdAtMs } = found;
  await ports.claims.answer({ id: standing.id, answer: { tokens, createdAtMs } });
  return { answered: { id, tokens, createdAtMs }, replayed: true };
}

async function findInLog(log: Log, scope: Scope, id: string): Promise<Stored | undefined> {
  const incarnation = await log.find(scope);
  const sequence = incarnation && (await log.locate({ incarnation, id }));
  if (!incarnation || !sequence) return undefined;
  return (await log.fetch({ incarnation, sequences: [sequence] }))[0]?.entry;
}

async function takeOver({ claims, exclusive }: OncePorts, standing: Claim, to: string): Promise<boolean> {
  const [process] = standing.owner.split(":");
  const ended = process === PROCESS ? !running.has(standing.owner) : exclusive;
  const claimedAtMs = Date.now();
  if (!ended && claimedAtMs - standing.claimedAtMs < OWNER_TIMEOUT_MS) return false;
  return claims.takeOver({ id: standing.id, from: standing.owner, to, claimedAtMs });
}

function newClaim({ scope, idempotencyKey, content }: OnceRequest, owner: string): Claim {
  const claimedAtMs = Date.now();
  return {
    id: `${scope.accountId}:${sha256([idempotencyKey])}`,
    requestHash: sha256([scope.namespace, ...content]),
    memoryId: newMemoryId(),
    owner,
    claimedAtMs,
    expiresAtMs: claimedAtMs + IDEMPOTENCY_KEPT_MS,
  };
}

/** Of several strings, each with its length, so that no two lists are alike. */
function sha256(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

function reused(): MemoryError {
  return new MemoryError("already_exists", "this Idempotency-Key was used for another request", {
    field: "Idempotency-Key",
    reason: "IDEMPOTENCY_KEY_REUSED",
  });
}
