import { MemoryError } from "../../errors.js";
import type { Answered } from "../idempotency/idempotency.js";
import type { Changed } from "../log/namespaces.js";
import { mapSome } from "../pacing/map-some.js";
import type { Embedding } from "../ports/embedder.js";
import type { Stored } from "../ports/log.js";
import type { ModelVersion } from "../ports/model-version.js";
import { NO_TIMINGS } from "../ports/step-timer.js";
import type { Conditional } from "../versions/condition.js";
import { type Batch, type BatchItem, type BatchResult, itemError } from "./batch.js";
import { answerOf } from "./store.js";
import { asMemory, conditionalOf, finishByOptions, type StoreIfPorts } from "./store-if.js";

/** Memories that are appended together, and the bytes of their texts: vectors take up to 25 times as many. */
const GROUP_MAX = 64;
const GROUP_BYTES_MAX = 262_144;
/** Texts of one batch that the model has at a time: others of the account wait behind no more. */
const EMBEDDING_MAX = 16;
/** Share of the call's time after which no text is begun, and share within which those begun must be done. */
const BEGIN_SHARE = 0.75;
const EMBED_SHARE = 0.9;

type Embedded = PromiseSettledResult<Embedding>;

/** Embeds a batch group by group; each group is appended while the next one is embedded. */
export class Writing {
  /** Those that this attempt has stored, and no other one. */
  readonly fresh: Answered[] = [];
  readonly #results = new Map<string, BatchResult>();
  /** Memories that this attempt has written or tried to write, by their items' ids. */
  readonly #made = new Map<string, Pick<Stored, "createdAtMs" | "updatedAtMs">>();
  /** Times by `Clock.nowMs` at which the last text may begin, and must be done. */
  readonly #beginUntilMs: number;
  readonly #embedUntilMs: number;

  constructor(
    private readonly ports: StoreIfPorts,
    private readonly batch: Batch,
  ) {
    const nowMs = ports.clock.nowMs();
    const leftMs = (batch.deadlineMs ?? Number.POSITIVE_INFINITY) - nowMs;
    this.#beginUntilMs = nowMs + leftMs * BEGIN_SHARE;
    this.#embedUntilMs = nowMs + leftMs * EMBED_SHARE;
  }

  /** Returns the result of one of them, after the run. */
  resultOf(id: string): BatchResult {
    return this.#results.get(id) as BatchResult;
  }

  /** Writes all of them. An error is that of those it leaves out, or is thrown if none was stored before it. */
  async run(paid: Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await this.#runAll(paid, signal);
    } catch (error) {
      if (![...this.#results.values()].some((result) => "stored" in result)) throw error;
      const left = this.batch.items.filter(({ id }) => !this.#results.has(id));
      for (const { id } of left) this.#results.set(id, { error: itemError(error) });
    }
  }

  async #runAll(paid: Promise<void>, signal: AbortSignal): Promise<void> {
    const { namespaces } = this.ports;
    let appending: Promise<void> = Promise.resolve();
    try {
      for (const group of inGroups(this.batch.items)) {
        const modelVersion = namespaces.modelVersionOf(this.batch.scope);
        const embedded = await this.#embed(group, { modelVersion, signal });
        await appending;
        await paid;
        // If it is too late for the caller, it is too late for the log.
        signal.throwIfAborted();
        appending = this.#append(group, { embedded, modelVersion, signal });
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
    { modelVersion, signal }: { modelVersion: ModelVersion; signal: AbortSignal },
  ): Promise<Embedded[]> {
    const { caller, deadlineMs, timer = NO_TIMINGS } = this.batch;
    const untilMs = deadlineMs === undefined ? undefined : this.#embedUntilMs;
    const asked = { field: "text", owner: caller.accountId, deadlineMs: untilMs, signal } as const;
    const embed = async (text: string, onBegin: () => void) => {
      if (this.ports.clock.nowMs() > this.#beginUntilMs) throw tooLate();
      return this.ports.modelVersions.embed(modelVersion, { ...asked, text, onBegin });
    };
    return timer.time("embed", (onBegin) =>
      mapSome(group, EMBEDDING_MAX, async ({ text }): Promise<Embedded> => {
        const [settled] = await Promise.allSettled([embed(text, onBegin)]);
        return settled;
      }),
    );
  }

  async #append(
    group: readonly BatchItem[],
    {
      embedded,
      modelVersion,
      signal,
    }: { embedded: Embedded[]; modelVersion: ModelVersion; signal: AbortSignal },
  ): Promise<void> {
    const { caller, scope, attempt, timer = NO_TIMINGS } = this.batch;
    const { namespaces, quota, clock } = this.ports;
    const settled = new Map<string, PromiseSettledResult<Changed>>();
    const nowMs = clock.wallMs();
    const made = (vectors: Embedded[]) =>
      group.flatMap((item, i) => this.#memoryOf(item, { embedded: vectors[i] as Embedded, nowMs }));
    // A namespace comes into being with a memory only.
    if (made(embedded).length === 0) return;
    const memoriesIn = async (wanted: ModelVersion) => {
      // The namespace may have moved to another model meanwhile.
      const vectors =
        wanted === modelVersion ? embedded : await this.#embed(group, { modelVersion: wanted, signal });
      await attempt?.confirm();
      return made(vectors);
    };
    const authenticate = () => quota.verify(caller);
    const appending = { memoriesIn, authenticate, idempotent: attempt !== undefined, settled };
    try {
      await timer.time("append", () => namespaces.appendAll(scope, appending));
    } finally {
      for (const item of group) await this.#note(item, settled.get(item.id));
    }
  }

  /** Makes a memory, or the condition under which it is appended, if its text could be embedded. */
  #memoryOf(
    { id, text, metadata, eventAtMs, storeOptions }: BatchItem,
    { embedded, nowMs }: { embedded: Embedded; nowMs: number },
  ): (Stored | Conditional)[] {
    if (embedded.status === "rejected") {
      this.#results.set(id, { error: itemError(embedded.reason) });
      return [];
    }
    const memory: Stored = {
      op: "store",
      opId: id,
      id,
      text,
      metadata,
      createdAtMs: nowMs,
      ...(eventAtMs !== undefined && { eventAtMs }),
      ...embedded.value,
    };
    if (storeOptions === undefined) {
      this.#made.set(id, memory);
      return [memory];
    }
    const conditional = conditionalOf(memory, { storeOptions, nowMs });
    const decide: Conditional["decide"] = async (view) => {
      const decision = await conditional.decide(view);
      if ("entry" in decision) this.#made.set(id, decision.entry as Stored);
      return decision;
    };
    return [{ ...conditional, decide }];
  }

  async #note(item: BatchItem, outcome: PromiseSettledResult<Changed> | undefined): Promise<void> {
    if (outcome === undefined) return;
    try {
      if (outcome.status === "rejected") throw outcome.reason;
      const stored = await this.#answer(item, outcome.value);
      this.#results.set(item.id, { stored });
      if (this.#isOurs(item, asMemory(outcome.value.existing))) this.fresh.push(stored);
    } catch (error) {
      this.#results.set(item.id, { error: itemError(error) });
    }
  }

  async #answer({ id, storeOptions }: BatchItem, changed: Changed): Promise<Answered> {
    return storeOptions === undefined
      ? answerOf(changed.existing)
      : finishByOptions(this.ports, { changed, id });
  }

  /** True if this attempt wrote it. Another one, which slept, has paid for an entry with another time. */
  #isOurs({ id }: BatchItem, { opId, createdAtMs, updatedAtMs }: ReturnType<typeof asMemory>): boolean {
    const made = this.#made.get(id);
    return opId === id && made?.createdAtMs === createdAtMs && made.updatedAtMs === updatedAtMs;
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
