import { MemoryError } from "../../../errors.js";
import { type Answered, type Attempt, deletedSince } from "../../idempotency/idempotency.js";
import { mapSome } from "../../pacing/map-some.js";
import type { Embedding } from "../../ports/embedder.js";
import type { Generation } from "../../ports/generation.js";
import type { Entry, Log, Scope, Stored } from "../../ports/log.js";
import type { Caller } from "../../ports/quota.js";
import { type CallStep, type Steps, untimed } from "../../ports/steps.js";
import type { Ports } from "../ports.js";
import { withinQuota } from "../within-quota.js";
import { type Known, knownOf } from "./known.js";

/** Memories that are appended together, and the bytes of their texts: vectors take up to 25 times as many. */
const GROUP_MAX = 64;
const GROUP_BYTES_MAX = 262_144;
/** Texts of one batch that the model has at a time: others of the account wait behind no more. */
const EMBEDDING_MAX = 16;
/** Share of the call's time after which no text is begun, and share within which those begun must be done. */
const BEGIN_SHARE = 0.75;
const EMBED_SHARE = 0.9;

export interface BatchItem {
  readonly id: string;
  readonly text: string;
  /** JSON of an object. */
  readonly metadata: string;
}

/** Result of one memory of a batch. */
export type BatchResult = { readonly stored: Answered } | { readonly error: MemoryError };

export interface Batch {
  readonly caller: Caller;
  readonly scope: Scope;
  readonly items: readonly BatchItem[];
  /** Absent if no other attempt can store the same memories. */
  readonly attempt: Attempt | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
  readonly steps?: Steps<CallStep> | undefined;
}

export interface Written {
  /** A result for each memory, in order. */
  readonly results: readonly BatchResult[];
  /** Those that this attempt has stored, and has paid for. */
  readonly fresh: readonly Answered[];
}

/**
 * Charges, embeds and appends the memories of a batch that no earlier attempt has stored.
 *
 * @throws MemoryError if the plan cannot pay for them, the caller stops waiting, or none could be stored.
 */
export async function writeBatch(ports: Ports & { readonly log: Log }, batch: Batch): Promise<Written> {
  const { caller, items, attempt, scope, steps } = batch;
  const { quota } = ports;
  const ids = items.map(({ id }) => id);
  const known = attempt?.isFirst === false ? await knownOf(ports, scope, ids) : new Map<string, Known>();
  const left = items.filter(({ id }) => !known.has(id));
  const writing = new Writing(ports, { ...batch, items: left });
  const resultOf = (id: string): BatchResult => {
    const before = known.get(id);
    if (before !== undefined) return resultOfKnown(before);
    const stored = writing.answered.get(id);
    return stored === undefined ? { error: writing.failed.get(id) as MemoryError } : { stored };
  };
  if (left.length === 0) return { results: ids.map(resultOf), fresh: [] };
  const charging = { quota, caller, steps, signal: batch.signal, calls: left.length };
  await withinQuota({ ...charging, kept: () => writing.fresh.length }, async ({ paid, signal }) => {
    await writing.run(paid, signal);
    const [firstFailure] = writing.failed.values();
    if (firstFailure !== undefined && writing.answered.size === 0 && known.size === 0) throw firstFailure;
  });
  const unpaid = left.length - writing.fresh.length;
  if (unpaid > 0) await quota.refund(caller, unpaid);
  return { results: ids.map(resultOf), fresh: writing.fresh };
}

/** Makes the result of a memory that an earlier call has stored: it may have been deleted since. */
export function resultOfKnown(known: Known | undefined): BatchResult {
  if (known === undefined || known === "gone") return { error: deletedSince() };
  const { id, tokens, createdAtMs } = known;
  return { stored: { id, tokens, createdAtMs } };
}

type Embedded = PromiseSettledResult<Embedding>;

/** Embeds a batch group by group; each group is appended while the next one is embedded. */
class Writing {
  readonly answered = new Map<string, Answered>();
  /** Those that this attempt has stored, and no other one. */
  readonly fresh: Answered[] = [];
  readonly failed = new Map<string, MemoryError>();
  /** Times by `Clock.nowMs` at which the last text may begin, and must be done. */
  readonly #beginUntilMs: number;
  readonly #embedUntilMs: number;

  constructor(
    private readonly ports: Ports,
    private readonly batch: Batch,
  ) {
    const nowMs = ports.clock.nowMs();
    const leftMs = (batch.deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs;
    this.#beginUntilMs = nowMs + leftMs * BEGIN_SHARE;
    this.#embedUntilMs = nowMs + leftMs * EMBED_SHARE;
  }

  async run(paid: Promise<void>, signal: AbortSignal): Promise<void> {
    const { namespaces } = this.ports;
    let appending: Promise<void> = Promise.resolve();
    try {
      for (const group of inGroups(this.batch.items)) {
        const generation = namespaces.generationOf(this.batch.scope);
        const embedded = await this.#embed(group, { generation, signal });
        await appending;
        await paid;
        // If it is too late for the caller, it is too late for the log.
        signal.throwIfAborted();
        appending = this.#append(group, { embedded, generation, signal });
        // It is awaited below, when the next group is embedded.
        appending.catch(() => {});
      }
    } finally {
      // What reaches the log is paid for, even if the caller has stopped waiting.
      await appending;
    }
  }

  async #embed(
    group: readonly BatchItem[],
    { generation, signal }: { generation: Generation; signal: AbortSignal },
  ): Promise<Embedded[]> {
    const { caller, deadlineMs, steps = untimed } = this.batch;
    const untilMs = deadlineMs === undefined ? undefined : this.#embedUntilMs;
    const asked = { field: "text", owner: caller.accountId, deadlineMs: untilMs, signal } as const;
    const embed = async (text: string, onBegin: () => void) => {
      if (this.ports.clock.nowMs() > this.#beginUntilMs) throw tooLate();
      return this.ports.generations.embed(generation, { ...asked, text, onBegin });
    };
    return steps.time("embed", (onBegin) =>
      mapSome(group, EMBEDDING_MAX, async ({ text }): Promise<Embedded> => {
        const [settled] = await Promise.allSettled([embed(text, onBegin)]);
        return settled;
      }),
    );
  }

  async #append(
    group: readonly BatchItem[],
    { embedded, generation, signal }: { embedded: Embedded[]; generation: Generation; signal: AbortSignal },
  ): Promise<void> {
    const { caller, scope, attempt, steps = untimed } = this.batch;
    const { namespaces, quota, clock } = this.ports;
    const settled = new Map<string, PromiseSettledResult<Entry<"head">>>();
    const createdAtMs = clock.wallMs();
    const made = (vectors: Embedded[]) =>
      group.flatMap((item, i) => this.#memoryOf(item, { embedded: vectors[i] as Embedded, createdAtMs }));
    // A namespace comes into being with a memory only.
    if (made(embedded).length === 0) return;
    const memoriesIn = async (wanted: Generation): Promise<Stored[]> => {
      // The namespace may have moved to another model meanwhile.
      const vectors =
        wanted === generation ? embedded : await this.#embed(group, { generation: wanted, signal });
      await attempt?.confirm();
      return made(vectors);
    };
    const admit = () => quota.verify(caller);
    const appending = { memoriesIn, admit, idempotent: attempt !== undefined, settled };
    try {
      await steps.time("append", () => namespaces.appendAll(scope, appending));
    } finally {
      for (const [id, outcome] of settled) this.#note(id, { outcome, createdAtMs });
    }
  }

  /** Makes a memory, if its text could be embedded. */
  #memoryOf(
    { id, text, metadata }: BatchItem,
    { embedded, createdAtMs }: { embedded: Embedded; createdAtMs: number },
  ): Stored[] {
    if (embedded.status === "rejected") {
      this.failed.set(id, itemError(embedded.reason));
      return [];
    }
    this.failed.delete(id);
    return [{ op: "store", opId: id, id, text, metadata, createdAtMs, ...embedded.value }];
  }

  #note(
    id: string,
    { outcome, createdAtMs }: { outcome: PromiseSettledResult<Entry<"head">>; createdAtMs: number },
  ): void {
    if (outcome.status === "rejected") {
      this.failed.set(id, itemError(outcome.reason));
      return;
    }
    const entry = outcome.value;
    if (entry.op !== "store" && entry.op !== "erased") {
      throw new MemoryError("internal", "another entry was appended in place of a memory");
    }
    const answered = { id, tokens: entry.tokens, createdAtMs: entry.createdAtMs };
    this.answered.set(id, answered);
    // Another attempt, which slept, has stored and paid for an entry with another time.
    if (entry.createdAtMs === createdAtMs) this.fresh.push(answered);
  }
}

/** Divides a batch into groups, in order; the last memory of a group may exceed its size. */
function* inGroups(items: readonly BatchItem[]): Generator<BatchItem[]> {
  let group: BatchItem[] = [];
  let bytes = 0;
  for (const item of items) {
    group.push(item);
    bytes += Buffer.byteLength(item.text);
    if (group.length < GROUP_MAX && bytes < GROUP_BYTES_MAX) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield group;
}

function tooLate(): MemoryError {
  const message = "there is no time left for this text; send it again, with fewer others";
  return new MemoryError("unavailable", message, { reason: "MODEL_BUSY", retryAfterMs: 1000 });
}

/** Answers the error of one memory. @throws anything that is not about this memory, or a fault of the server */
function itemError(reason: unknown): MemoryError {
  const isOwn = reason instanceof MemoryError && ["unavailable", "resource_exhausted"].includes(reason.code);
  if (!isOwn) throw reason;
  return reason;
}
