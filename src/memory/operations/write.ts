import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { errorOfItem, MemoryError } from "../../errors.js";
import { eraseEntries } from "../erasure/erase.js";
import {
  type Attempt,
  deletedSince,
  parseIdempotencyKey,
  UnfinishedBatchError,
} from "../idempotency/idempotency.js";
import type { Changed } from "../log/namespaces.js";
import type { Replica } from "../log/replica.js";
import type { Answered } from "../ports/claims.js";
import type { Embedding } from "../ports/embedder.js";
import { entryAt, type Stored } from "../ports/log.js";
import { type ModelVersion, memoizeByModelVersion, modelVersionOf } from "../ports/model-version.js";
import type { Scope } from "../ports/names.js";
import { type CallStep, NO_TIMINGS, type StepTimer } from "../ports/step-timer.js";
import { newMemoryId } from "../requests/id.js";
import { notInTheFuture } from "../requests/times.js";
import type { Conditional, LogView } from "../versions/condition.js";
import { noSuchMemory } from "../versions/current-version.js";
import { findInNamespace, readInNamespace } from "../versions/fetch.js";
import type { PaidRequest, Ports } from "./ports.js";
import { withinQuota } from "./within-quota.js";

/** Maximum number of items of a batch that are looked up at a time. */
const LOOKUPS_MAX = 8;
/** Memories that are appended together, and the bytes of their texts: vectors take up to 25 times as many. */
const GROUP_MAX = 64;
const GROUP_BYTES_MAX = 262_144;
/** Texts of one batch that the model has at a time: others of the account wait behind no more. */
const EMBEDDING_MAX = 16;
/** Share of a batch's time after which no text is begun, and share within which those begun must be done. */
const BEGIN_SHARE = 0.75;
const EMBED_SHARE = 0.9;
/** Codes of errors that are about one memory, and not about the call. */
const OWN_CODES = ["unavailable", "resource_exhausted", "already_exists", "not_found", "failed_precondition"];

/** A memory to write: a new one, or the next version of one. `A` is its answer. */
export interface Item<A> {
  /** Id of the operation, and of the memory if it is a new one. */
  readonly id: string;
  /** The text to embed, which costs a call; undefined if the vectors stay. */
  readonly text: string | undefined;
  /** True if it would have expired before this call: only an earlier attempt may have written it. */
  readonly isPast?: boolean | undefined;
  /**
   * Checks, before anything is charged or embedded, whether the memory is there already: the answer then. Left out
   * if the write depends on nothing.
   *
   * @throws MemoryError if the namespace's memories do not allow the write.
   */
  readonly precheck?: ((view: LogView) => Promise<A | undefined>) | undefined;
  /** Makes the entry, or the condition under which it is appended; called again for another log. */
  entryIn(context: EntryContext): Stored | Conditional | Promise<Conditional>;
  /** Makes the answer from the entry that the log has; the version that it replaces is erased by then. */
  answer(existing: Changed["existing"]): Promise<A>;
  /** True if the answer costs the call that the text was charged for; each does if left out. */
  isPaid?(answer: A): boolean;
  /** True if the answer needs the text's vector, even where an earlier attempt has written the memory. */
  readonly needsEmbedding?: boolean;
}

interface EntryContext {
  readonly replica: Replica;
  /** Embedding of the item's text by the log's model; undefined if the item has no text. */
  readonly embedding: Embedding | undefined;
  readonly nowMs: number;
  readonly timer: StepTimer<CallStep>;
  readonly signal: AbortSignal | undefined;
}

export type Result<A> = { readonly stored: A } | { readonly error: MemoryError };

interface Write<A> {
  readonly request: Omit<PaidRequest, "namespace"> & { readonly idempotencyKey?: string | undefined };
  readonly scope: Scope;
  /** True if the namespace is created; false if only what is there can be changed. */
  readonly creates: boolean;
  /** Makes the items of an attempt, the first of them with this id. */
  itemsFor(id: string): readonly Item<A>[];
  /** True if the request is for several memories, each of which may have an error of its own. */
  readonly isBatch?: boolean;
  /** Absent if the request has no key. */
  readonly keyed?: Keyed<A>;
}

/** What makes calls with the same key write once. */
interface Keyed<A> {
  /** Makes the content by which two requests with one key are compared. */
  content(): readonly string[] | Promise<readonly string[]>;
  /** Makes what the key keeps of the results. @throws UnfinishedBatchError */
  answerOf(results: readonly Result<A>[], attempt: Attempt): Answered;
  /** Makes the results again from what the key kept; `find` finds those of a batch in the log. */
  replay(answered: Answered, find: () => Promise<Result<A>[]>): Promise<readonly Result<A>[]>;
}

/** The answer to a write of one memory, which is a batch of one. @throws MemoryError that of the memory */
export function onlyOf<A>([result]: readonly Result<A>[]): A {
  if (result === undefined || "error" in result) throw result?.error;
  return result.stored;
}

/**
 * Writes memories: claims the key, charges, embeds, appends what is not there yet, and keeps the answer for calls with
 * the same key. What cannot be written has an error in its place and costs nothing; if nothing can be written, the call
 * has the error of the first.
 *
 * @throws MemoryError if the plan cannot pay for all, the caller stops waiting, or nothing could be written; and as
 * `Idempotency.run` if there is a key.
 */
export async function write<A extends Pick<Answered, "tokens" | "outcome">>(
  ports: Ports,
  batch: Write<A>,
): Promise<{ results: readonly Result<A>[]; replayed: boolean }> {
  const { request, scope, isBatch = false, keyed } = batch;
  if (request.idempotencyKey === undefined || keyed === undefined) {
    return { results: await new Writer(ports, batch).run(), replayed: false };
  }
  const idempotencyKey = parseIdempotencyKey(request.idempotencyKey);
  // A replay is not charged, so no charge proves that the key lives.
  await ports.quota.verify(request.caller);
  const asked = { scope, idempotencyKey, content: await keyed.content(), isBatch };
  let writer: Writer<A> | undefined;
  const work = {
    write: async (attempt: Attempt) => {
      writer = new Writer(ports, batch, attempt);
      const answered = keyed.answerOf(await writer.run(), attempt);
      return { ...answered, paid: writer.paid() };
    },
    stored: () => (isBatch ? (writer?.stored() ?? []) : []),
    undo: async (paid: readonly number[]) => writer?.undo(paid),
  };
  try {
    const { answered, replayed } = await ports.idempotency.run(asked, work);
    const find = () => new Writer(ports, batch, undefined, answered.id).findAll();
    if (replayed || writer === undefined)
      return { results: await keyed.replay(answered, find), replayed: true };
  } catch (error) {
    if (!(error instanceof UnfinishedBatchError) || writer === undefined) throw error;
  }
  return { results: writer.results, replayed: false };
}

/** Embeddings of the texts of a group by one model; undefined for those without a text, or that have an error now. */
type Embeddings = readonly (Embedding | undefined)[];

/** Writes the items of one attempt, which is undefined if no other one can write the same. */
class Writer<A extends Pick<Answered, "tokens" | "outcome">> {
  readonly #items: readonly Item<A>[];
  /** Items that this attempt has to pay for. */
  readonly #paid = new Set<string>();
  readonly #results = new Map<string, Result<A>>();
  /** Items that an earlier attempt has written and paid for. */
  readonly #free = new Set<string>();
  readonly #timer: StepTimer<CallStep>;
  #signal: AbortSignal | undefined;
  /** Times by `Clock.nowMs` at which the last text may begin, and must be done. */
  #beginUntilMs = Number.POSITIVE_INFINITY;
  #embedUntilMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly ports: Ports,
    private readonly batch: Write<A>,
    private readonly attempt?: Attempt,
    id = attempt?.memoryId ?? newMemoryId(),
  ) {
    this.#items = batch.itemsFor(id);
    this.#timer = batch.request.timer ?? NO_TIMINGS;
  }

  /** A result for each item, in order, once all have one. */
  get results(): readonly Result<A>[] {
    return this.#items.map(({ id }) => this.#results.get(id) as Result<A>);
  }

  /**
   * Refunds an answer that nobody gets, because another attempt was answered, which has paid for the items in these
   * positions. Another stored memory stays paid, because that attempt has found it and paid nothing; one that was kept has
   * stored nothing that could be found.
   */
  async undo(paidByOther: readonly number[]): Promise<void> {
    const stored = this.stored();
    const unpaid = this.paid().filter(
      (position) => paidByOther.includes(position) || !stored.includes(position),
    );
    if (unpaid.length > 0) await this.ports.quota.refund(this.batch.request.caller, unpaid.length);
  }

  /** Positions of what is stored by now. A memory that was kept belongs to another store. */
  stored(): readonly number[] {
    return this.#positionsOf(({ id }) => {
      const result = this.#results.get(id);
      return result !== undefined && "stored" in result && result.stored.outcome !== "KEPT";
    });
  }

  /** Positions of what this attempt has to pay for. */
  paid(): readonly number[] {
    return this.#positionsOf(({ id }) => this.#paid.has(id));
  }

  #positionsOf(isMeant: (item: Item<A>) => boolean): readonly number[] {
    return this.#items.flatMap((item, position) => (isMeant(item) ? [position] : []));
  }

  async run(): Promise<readonly Result<A>[]> {
    const { request, isBatch } = this.batch;
    const { caller, controller } = request;
    const { quota } = this.ports;
    const [timer, items] = [this.#timer, this.#items];
    if (this.attempt?.isFirst === false) {
      const known = this.attempt.stored.flatMap((position) => items[position] ?? []);
      // Attempts that failed have paid for no more than they know.
      await this.#findStored(this.attempt.isRefunded ? known : items, known);
    }
    const isBegun = this.#results.size > 0;
    this.#refusePast();
    await this.#lookUp();
    const left = items.filter(({ id }) => !this.#results.has(id));
    const work = async ({ paid, signal }: { paid?: Promise<void>; signal: AbortSignal | undefined }) => {
      this.#signal = signal;
      await this.#write(left, paid);
      const [first, ...others] = this.results;
      if (isBegun || first === undefined || !("error" in first)) return;
      if (others.some((other) => "stored" in other)) return;
      throw isBatch ? errorOfItem("memories[0]", first.error) : first.error;
    };
    const calls = left.filter(({ id, text }) => text !== undefined && !this.#free.has(id)).length;
    if (calls === 0) await work({ signal: controller?.signal });
    else {
      await withinQuota(this.ports, request, { calls, nonRefundable: () => this.#paid.size }, work);
      const unpaid = calls - this.#paid.size;
      if (unpaid > 0) await timer.time("refund", () => quota.refund(caller, unpaid));
    }
    for (const [id, result] of this.#results) {
      if (!this.#paid.has(id) || "error" in result) continue;
      const { tokens } = result.stored;
      quota.count(caller, { namespace: this.batch.scope.namespace, call: "store", tokens });
    }
    return this.results;
  }

  /** Finds the results of items all of which an earlier attempt has written. */
  async findAll(): Promise<Result<A>[]> {
    await this.#findStored(this.#items, this.#items);
    return [...this.results];
  }

  /**
   * Finds what earlier attempts have written and paid for, before it is charged and embedded again; `known` is what they
   * have stored.
   */
  async #findStored(items: readonly Item<A>[], known: readonly Item<A>[]): Promise<void> {
    const { log, names, secondaryIndexes } = this.ports;
    const found = await readInNamespace(names, this.batch.scope, {
      read: async (logId) => {
        const opIds = items.map(({ id }) => id);
        return { logId, numbers: await secondaryIndexes.findByOperation({ logId, opIds }) };
      },
      isWhole: ({ numbers }) => numbers.size === items.length,
    });
    const written = new Map<Item<A>, Changed>();
    await mapConcurrently(items, LOOKUPS_MAX, async (item) => {
      const { id } = item;
      const sequence = found?.numbers.get(id);
      const entry = found && sequence && (await entryAt(log, found.logId, sequence));
      // If the log lacks now what was stored, it was dropped since.
      if (!entry && known.includes(item)) this.#results.set(id, { error: deletedSince() });
      if (!entry) return;
      this.#free.add(id);
      if (item.needsEmbedding) return;
      // The memory's last version may be another operation's.
      written.set(item, { logId: found.logId, existing: { ...entry, opId: id } as Changed["existing"] });
    });
    if (written.size === 0) return;
    // All at once: a batch has hundreds.
    const living = await this.#findLiving([...written.values()].map(({ existing }) => existing));
    await mapConcurrently([...written], LOOKUPS_MAX, ([item, value]) =>
      this.#note(item, { status: "fulfilled", value }, { living }),
    );
  }

  /** Finds those of some entries' memories that the namespace has now. */
  #findLiving(entries: readonly Changed["existing"][]): Promise<ReadonlyMap<string, unknown>> {
    const ids = [...new Set(entries.map(memoryIdOf))];
    return findInNamespace(this.ports, this.batch.scope, { ids, projection: "header" });
  }

  /** Refuses what would have expired already; to a later attempt it is a memory that is gone. */
  #refusePast(): void {
    for (const [position, { id, isPast = false }] of this.#items.entries()) {
      if (!isPast || this.#results.has(id)) continue;
      if (this.attempt?.isFirst === false) this.#results.set(id, { error: deletedSince() });
      else
        throw this.batch.isBatch ? errorOfItem(`memories[${position}]`, notInTheFuture()) : notInTheFuture();
    }
  }

  /** Looks up, before anything is charged or embedded, which items are there already, or are forbidden. */
  async #lookUp(): Promise<void> {
    const { quota, names } = this.ports;
    const { request, scope, creates } = this.batch;
    const prechecked = this.#items.filter(
      ({ id, precheck }) => precheck !== undefined && !this.#results.has(id),
    );
    if (prechecked.length === 0) return;
    const found = await readInNamespace(names, scope, {
      read: async (logId) => {
        // No charge has proved that the key lives.
        await quota.verify(request.caller);
        return mapConcurrently(prechecked, LOOKUPS_MAX, (item) => this.#precheck(item, logId));
      },
      isWhole: (outcomes) => outcomes.every((outcome) => outcome === undefined),
    });
    if (found === undefined && creates) return;
    if (found === undefined) {
      await quota.verify(request.caller);
      throw noSuchMemory();
    }
    for (const [i, outcome] of found.entries()) {
      if (outcome === undefined) continue;
      const result = "stored" in outcome ? outcome : { error: itemError(outcome.refusal) };
      this.#results.set((prechecked[i] as Item<A>).id, result);
    }
  }

  /** Checks in one log whether an item is there already, or forbidden; undefined if it is to be written. */
  async #precheck(
    { id, precheck }: Item<A>,
    logId: string,
  ): Promise<{ stored: A } | { refusal: unknown } | undefined> {
    const { log, secondaryIndexes, clock } = this.ports;
    const view = { log, secondaryIndexes, logId, from: Number.POSITIVE_INFINITY, nowMs: clock.wallMs() };
    let outcome: { stored: A } | { refusal: unknown };
    try {
      const stored = await precheck?.(view);
      if (stored === undefined) return undefined;
      outcome = { stored };
    } catch (error) {
      outcome = { refusal: error };
    }
    if (this.attempt === undefined) return outcome;
    // Asked after the precheck: an entry of an earlier attempt that it has found is written by then.
    const isOurs = (await secondaryIndexes.findByOperation({ logId, opIds: [id] })).size > 0;
    return isOurs ? undefined : outcome;
  }

  /**
   * Embeds items group by group; each group is appended while the next one is embedded. An error is that of the items
   * it leaves out, or is thrown if none was stored before it.
   */
  async #write(items: readonly Item<A>[], paid: Promise<void> | undefined): Promise<void> {
    const { deadlineMs = Number.POSITIVE_INFINITY } = this.batch.request;
    const nowMs = this.ports.clock.nowMs();
    const untilMs = (share: number) => (items.length > 1 ? nowMs + (deadlineMs - nowMs) * share : deadlineMs);
    this.#beginUntilMs = untilMs(BEGIN_SHARE);
    this.#embedUntilMs = untilMs(EMBED_SHARE);
    try {
      await this.#writeGroups(items, paid);
    } catch (error) {
      const isStored = ({ id }: Item<A>) => "stored" in (this.#results.get(id) ?? {});
      if (!items.some(isStored)) throw error;
      for (const { id } of items)
        if (!this.#results.has(id)) this.#results.set(id, { error: itemError(error) });
    }
  }

  async #writeGroups(items: readonly Item<A>[], paid: Promise<void> | undefined): Promise<void> {
    let appending: Promise<void> = Promise.resolve();
    try {
      for (const group of inGroups(items)) {
        const embed = memoizeByModelVersion((modelVersion) => this.#embed(group, modelVersion));
        const guessed = await embed(this.ports.namespaces.modelVersionOf(this.batch.scope));
        await appending;
        await paid;
        // If it is too late for the caller, it is too late for the log.
        this.#signal?.throwIfAborted();
        appending = this.#append(group, { guessed, embed });
        // It is awaited below, when the next group is embedded.
        appending.catch(() => {});
      }
    } finally {
      // Entries that reach the log are paid for, even if the caller has stopped waiting.
      await appending;
    }
  }

  /** Embeds the texts of a group. */
  async #embed(group: readonly Item<A>[], modelVersion: ModelVersion): Promise<Embeddings> {
    if (group.every(({ text }) => text === undefined)) return [];
    const { caller, deadlineMs } = this.batch.request;
    const signal = this.#signal;
    const asked = {
      field: "text",
      owner: caller.accountId,
      deadlineMs: deadlineMs === undefined ? undefined : this.#embedUntilMs,
      ...(signal && { signal }),
    } as const;
    return this.#timer.time("embed", () =>
      mapConcurrently(group, EMBEDDING_MAX, async ({ id, text }) => {
        if (text === undefined) return undefined;
        try {
          if (this.ports.clock.nowMs() > this.#beginUntilMs) throw noTimeLeft();
          return await this.ports.modelVersions.embed(modelVersion, { ...asked, text });
        } catch (error) {
          this.#results.set(id, { error: itemError(error) });
          return undefined;
        }
      }),
    );
  }

  async #append(
    group: readonly Item<A>[],
    { guessed, embed }: { guessed: Embeddings; embed: (modelVersion: ModelVersion) => Promise<Embeddings> },
  ): Promise<void> {
    const { request, scope, creates } = this.batch;
    const { namespaces, quota, clock } = this.ports;
    const isReady = ({ text }: Item<A>, embedding: Embedding | undefined) =>
      text === undefined || embedding !== undefined;
    // A namespace comes into being with a memory only.
    if (!group.some((item, i) => isReady(item, guessed[i]))) return;
    const settled = new Map<string, PromiseSettledResult<Changed>>();
    /** The last entry that this attempt has tried to write for each item. */
    const made = new Map<string, Stored>();
    const nowMs = clock.wallMs();
    const entriesIn = async (replica: Replica) => {
      // The namespace may have moved to another model meanwhile.
      const embeddings = await embed(modelVersionOf(replica.logId));
      await this.attempt?.confirm();
      const entries: (Stored | Conditional)[] = [];
      for (const [i, item] of group.entries()) {
        const embedding = embeddings[i];
        if (!isReady(item, embedding)) continue;
        const context = { replica, embedding, nowMs, timer: this.#timer, signal: this.#signal };
        entries.push(noting(await item.entryIn(context), (entry) => made.set(item.id, entry)));
      }
      return entries;
    };
    const authenticate = creates ? () => quota.verify(request.caller) : undefined;
    const appending = { entriesIn, authenticate, idempotent: this.attempt !== undefined, settled };
    try {
      const isThere = await this.#timer.time("append", () => namespaces.append(scope, appending));
      if (!isThere) throw noSuchMemory();
    } finally {
      for (const item of group) {
        const outcome = settled.get(item.id);
        if (outcome !== undefined) await this.#note(item, outcome, { made: made.get(item.id) });
      }
    }
  }

  async #note(
    item: Item<A>,
    outcome: PromiseSettledResult<Changed>,
    { made, living }: { made?: Stored | undefined; living?: ReadonlyMap<string, unknown> },
  ): Promise<void> {
    const { id, text } = item;
    try {
      if (outcome.status === "rejected") throw outcome.reason;
      const { logId, existing } = outcome.value;
      const { opId, replaces } = existing as Partial<Stored>;
      // An earlier attempt has written it, and it may have been deleted since: nobody must believe that it exists. Or
      // only this log has lost it, which has moved.
      if (this.#free.has(id) || (this.attempt !== undefined && existing.op === "erased")) {
        const present = living ?? (await this.#findLiving([existing]));
        if (!present.has(memoryIdOf(existing))) throw deletedSince();
      }
      if (opId === id && replaces !== undefined)
        await eraseEntries(this.ports, { logIds: [logId], sequences: [replaces] });
      const stored = await item.answer(existing);
      this.#results.set(id, { stored });
      if (text === undefined || this.#free.has(id) || item.isPaid?.(stored) === false) return;
      const isOthers = this.attempt?.isRefunded !== true && existing.opId === id && !isSame(existing, made);
      if (!isOthers) this.#paid.add(id);
    } catch (error) {
      this.#results.set(id, { error: itemError(error) });
    }
  }
}

/** Notes the entry that is written, now or when its condition is decided. */
function noting(entry: Stored | Conditional, note: (entry: Stored) => void): Stored | Conditional {
  if (!("decide" in entry)) {
    note(entry);
    return entry;
  }
  const decide: Conditional["decide"] = async (view) => {
    const decision = await entry.decide(view);
    // The tombstone of another memory may come first.
    if ("entry" in decision && decision.entry.op === "store") note(decision.entry);
    return decision;
  };
  return { ...entry, decide };
}

function memoryIdOf(existing: Changed["existing"]): string {
  return (existing as Partial<Stored>).id ?? "";
}

/** True if the log has what this attempt made. Another one, which slept, has paid for an entry with another time. */
function isSame(existing: Changed["existing"], made: Stored | undefined): boolean {
  const { opId, createdAtMs, updatedAtMs } = existing as Partial<Stored>;
  return opId === made?.opId && createdAtMs === made?.createdAtMs && updatedAtMs === made?.updatedAtMs;
}

/** The error of one item. @throws anything that is not about this item, or a fault of the server */
function itemError(reason: unknown): MemoryError {
  if (reason instanceof MemoryError && OWN_CODES.includes(reason.code)) return reason;
  throw reason;
}

/** Divides items into groups, in order; the last of a group may exceed its size. */
function* inGroups<A>(items: readonly Item<A>[]): Iterable<Item<A>[]> {
  let group: Item<A>[] = [];
  let bytes = 0;
  for (const item of items) {
    group.push(item);
    bytes += Buffer.byteLength(item.text ?? "");
    if (group.length < GROUP_MAX && bytes < GROUP_BYTES_MAX) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield group;
}

function noTimeLeft(): MemoryError {
  const message = "there is no time left for this text; send it again, with fewer others";
  return new MemoryError("unavailable", message, { reason: "MODEL_BUSY", retryAfterMs: 1000 });
}
