import type { BatchMemory } from "../../src/memory/operations/store-batch.js";
import { REST_MS } from "../../src/memory/reembedding/moving.js";
import { CALM, Database, type Faults, keyOf, type Mistakes } from "./database.js";
import { History, type Storing } from "./history.js";
import { type Caller, Process } from "./process.js";
import { seeded, VirtualTime, WALL_MS } from "./time.js";

export interface Setup {
  readonly seed: number;
  readonly mistakes?: Mistakes;
}

/** Shape of a schedule, which its seed decides. */
interface Shape {
  readonly processes: number;
  /** True for one process, as over the embedded database. */
  readonly exclusive: boolean;
  readonly operations: number;
  readonly faults: Faults;
  /** Time within which all operations begin. */
  readonly spreadMs: number;
  /** Number of times that the model changes. */
  readonly modelChanges: number;
  readonly closesAccount: boolean;
  /** Frequency of each kind of operation: schedules that lack some, or have many, find more. */
  readonly weights: Record<Kind, number>;
  /** The higher, the more calls are about the latest memory. */
  readonly focus: number;
  /** Share of the writes that have an idempotency key, and are tried again. */
  readonly keyed: number;
  /** Share of the plain stores that keep or supersede a similar memory: to the model, all texts are alike. */
  readonly comparing: number;
  /** True if namespaces are exported beside being recalled. */
  readonly exports: boolean;
  /** Number of times that many memories are marked in their metadata. */
  readonly marks: number;
  /** Time by which the clocks of processes are wrong at most. */
  readonly clockErrorMs: number;
  /** True if memories with an external id, or that supersede others, may expire as well. */
  readonly mixesOptions: boolean;
}

/** Operations, and how often they occur in the mean of all schedules. */
const KINDS = { store: 38, batch: 6, update: 14, recall: 16, delete: 14, filter: 8, drop: 5, kill: 6 };
type Kind = keyof typeof KINDS;

const OFTEN_FAULTY = { lost: 0.03, unanswered: 0.03, late: 0.02, twice: 0.03 };
const NAMESPACES = ["a", "b"];
/** Maximum stores of a schedule. A recall shows at most 20 memories, so it shows all of them. */
const STORES_MAX = 18;
/** Time by which operations have ended or belong to dead processes. */
const END_MS = 900_000;
/**
 * Time in which everything that waits for the dead ends: a sweep comes every minute, for work a minute old. A
 * drop that it finishes has its calls erased a second time by a later one.
 */
const SETTLING_MS = 250_000;
/** Number of memories that are stored in one call. */
const BATCH = 3;
/** Maximum updates of a schedule. */
const UPDATES_MAX = 12;
const EXTERNAL_IDS = ["x", "y"];
const CALLS_LIMIT = 1_000_000;
/** Calls by which memories are marked, of which some fail. */
const MARKING_CALLS_MAX = 6;
/** Number of times that a clock jumps in a schedule with wrong clocks. */
const CLOCK_JUMPS = 8;

/** Chosen apart, so that schedules without it stay as they were: two numbers below 1, and a source of more. */
type ChosenApart = Record<"comparing" | "exporting", number> & { readonly more: () => number };

function shapeOf(time: VirtualTime, { comparing, exporting, more }: ChosenApart): Shape {
  const exclusive = time.chance(0.2);
  const faults = time.chance(0.25) ? { lost: 0, unanswered: 0, late: 0, twice: 0 } : OFTEN_FAULTY;
  const changesModel = time.chance(0.5);
  const clockErrorMs = [3_000, 40_000, 21_600_000][Math.floor(more() * 15)] ?? 0;
  return {
    processes: exclusive ? 1 : 3,
    exclusive,
    operations: 24 + Math.floor(time.between(0, 16)),
    faults: { ...faults, pause: time.chance(0.5) ? 0 : time.between(0.002, 0.03) },
    spreadMs: time.pick(changesModel ? [300, 5_000, 60_000, 150_000] : [300, 300, 5_000, 60_000]),
    modelChanges: changesModel ? time.pick([1, 1, 2, 3]) : 0,
    closesAccount: time.chance(0.4),
    weights: weightsOf(time),
    focus: time.pick([1, 3, 12]),
    keyed: time.pick([0.2, 0.5, 1]),
    comparing: comparing < 0.2 ? comparing * 5 : 0,
    exports: exporting < 0.15,
    // What is marked during an export is in it in no version.
    marks: exporting < 0.15 ? 0 : Math.max(0, Math.floor(more() * 8) - 4),
    clockErrorMs,
    mixesOptions: clockErrorMs > 0 || more() < 0.1,
  };
}

function weightsOf(time: VirtualTime): Record<Kind, number> {
  const entries = Object.entries(KINDS) as [Kind, number][];
  const weights = entries.map(([kind, weight]) => [kind, weight * time.pick([0, 1, 1, 2])]);
  return { ...Object.fromEntries(weights), store: KINDS.store } as Record<Kind, number>;
}

/**
 * Runs one schedule and checks it: every later recall on every process finds each acknowledged memory exactly
 * once and no forgotten one, nothing of a forgotten one remains, the logs are dense, and each answered call
 * was charged.
 *
 * @throws Error naming what was wrong.
 */
export async function simulate({ seed, mistakes }: Setup): Promise<void> {
  const time = new VirtualTime(seed);
  const chosenApart = {
    comparing: seeded(~seed)(),
    exporting: seeded(seed ^ 0xe6)(),
    more: seeded(seed ^ 0xa77),
  };
  const schedule = new Schedule(time, { shape: shapeOf(time, chosenApart), mistakes });
  const end = simulateSlowness(seed);
  try {
    await schedule.run();
  } finally {
    end();
  }
}

/** Longer than any piece of work may hold the main thread. */
const SLOW_MS = 1_000;

/**
 * Lets the seed alone decide how long work holds the main thread, and so where it lets other work run: by the real
 * clock, a busy machine would meet orders of events that no seed repeats.
 *
 * @returns gives the real clock back
 */
function simulateSlowness(seed: number): () => void {
  const random = seeded(seed ^ 0x5e0);
  const often = [0, 0.05, 0.3][Math.floor(random() * 3)] as number;
  const real = performance.now;
  let nowMs = real.call(performance);
  performance.now = () => {
    if (random() < often) nowMs += SLOW_MS;
    return nowMs;
  };
  return () => {
    performance.now = real;
  };
}

/** A write that may be tried several times. */
interface Attempts {
  readonly caller: Caller;
  readonly namespace: string;
  attempt(): Promise<unknown>;
  readonly isRepeated: boolean;
}

/** Fields of a store beyond those of a memory. */
interface StoreOptions {
  readonly externalId?: string;
  readonly onConflict?: "refuse" | "replace" | "keep";
  /** Chooses the memory to supersede. */
  readonly superseded?: number;
  readonly expiresMs?: number;
  readonly onSimilar?: "keep" | "supersede";
}

/** Score of two texts that are alike. */
const SIMILAR_ABOVE = 0.9;

function expiryOf({ expiresMs }: StoreOptions) {
  return expiresMs === undefined ? {} : { expiry: { atMs: WALL_MS + expiresMs } };
}

class Schedule {
  readonly #db: Database;
  readonly #history: History;
  readonly #processes: Process[];
  readonly #callers: readonly Caller[];
  #stores = 0;
  #updates = 0;
  #open = 0;
  #settling = false;

  constructor(
    private readonly time: VirtualTime,
    { shape, mistakes }: { shape: Shape; mistakes: Mistakes | undefined },
  ) {
    this.shape = shape;
    this.#db = new Database(time, shape.faults, mistakes);
    this.#history = new History(time, shape.clockErrorMs);
    this.#callers = ["acc_1", "acc_2"].map((accountId) => this.#signUp(accountId));
    this.#processes = Array.from({ length: shape.processes }, () => this.#newProcess());
  }

  private readonly shape: Shape;

  async run(): Promise<void> {
    const { operations, spreadMs, modelChanges, closesAccount, marks, clockErrorMs } = this.shape;
    for (let i = 0; i < operations; i++) this.#plan(this.time.between(0, spreadMs));
    for (let i = 0; i < modelChanges; i++)
      this.time.at(this.time.between(0, spreadMs), () => this.#changeModel());
    for (let i = 0; i < marks; i++) this.#begin(this.time.between(0, spreadMs), () => this.#mark(`mark${i}`));
    for (let i = 0; clockErrorMs > 0 && i < CLOCK_JUMPS; i++)
      this.time.at(this.time.between(0, spreadMs), () => this.#setClock());
    if (closesAccount)
      this.#begin(this.time.between(0, spreadMs), () => this.#close(this.#callers[1] as Caller));
    // Calls of a dead process never end, so time decides.
    await this.#until(() => this.#open === 0 && this.#db.isMoved, END_MS);
    await this.#settle();
  }

  #plan(atMs: number): void {
    const { time } = this;
    const caller = time.pick([...this.#callers, this.#callers[0] as Caller]);
    const namespace = NAMESPACES[time.chance(0.8) ? 0 : 1] as string;
    this.#plans[this.#anyKind()](atMs, caller, namespace);
  }

  /** Plans one operation of each kind. */
  readonly #plans: Record<Kind, (atMs: number, caller: Caller, namespace: string) => void> = {
    store: (...operation) => this.#stores < STORES_MAX && this.#planStore(...operation),
    batch: (...operation) => this.#stores + BATCH <= STORES_MAX && this.#planBatch(...operation),
    update: (...operation) => this.#updates < UPDATES_MAX && this.#planUpdate(...operation),
    recall: (atMs, ...operation) => {
      this.#begin(atMs, () => this.#recall(this.#any, ...operation));
      if (this.shape.exports) this.#begin(atMs, () => this.#export(...operation));
    },
    delete: (atMs, ...operation) => this.#begin(atMs, () => this.#delete(...operation)),
    filter: (atMs, ...operation) => this.#begin(atMs, () => this.#deleteByFilter(...operation)),
    drop: (atMs, ...operation) => this.#begin(atMs, () => this.#drop(...operation)),
    // A process dies in the middle of its work, and another takes its place.
    kill: (atMs) => this.time.at(atMs, () => this.#kill()),
  };

  #anyKind(): Kind {
    const weights = Object.entries(this.shape.weights);
    let left = this.time.random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [kind, weight] of weights) {
      left -= weight;
      if (left < 0) return kind as Kind;
    }
    return "store";
  }

  #planStore(atMs: number, caller: Caller, namespace: string): void {
    const storeOptions = this.#storeOptions(atMs);
    const { comparing } = this.shape;
    const compares = comparing > 0 && Object.keys(storeOptions).length === 0 && this.time.chance(comparing);
    const onSimilar = compares ? this.time.pick(["keep", "supersede"] as const) : undefined;
    const memory = this.#newMemory(caller, namespace, { ...storeOptions, ...(onSimilar && { onSimilar }) });
    const idempotencyKey = this.time.chance(this.shape.keyed) ? `key ${this.#stores}` : undefined;
    const attempt = () => {
      const { operation, request } = memory();
      const asked = { ...request, namespace, idempotencyKey };
      return this.#history.storing(operation, async (bill) => {
        const answer = await this.#any.store(caller, asked, bill);
        return { ...answer, superseded: this.#db.supersededBy(answer.stored.id) };
      });
    };
    this.#planAttempts(atMs, { caller, namespace, attempt, isRepeated: idempotencyKey !== undefined });
  }

  /** Plans several stores in one call. */
  #planBatch(atMs: number, caller: Caller, namespace: string): void {
    // Only memories that ask for nothing more are written together.
    const storeOptions = this.time.chance(0.4) ? () => this.#storeOptions(atMs) : () => ({});
    const memories = Array.from({ length: BATCH }, () => this.#newMemory(caller, namespace, storeOptions()));
    const idempotencyKey = this.time.chance(this.shape.keyed) ? `key ${this.#stores}` : undefined;
    const attempt = () => {
      const items = memories.map((memory) => memory());
      const asked = { namespace, memories: items.map(({ request }) => request), idempotencyKey };
      const operation = items.map((item) => item.operation);
      return this.#history.storingBatch(operation, (bill) => this.#any.storeBatch(caller, asked, bill));
    };
    this.#planAttempts(atMs, { caller, namespace, attempt, isRepeated: idempotencyKey !== undefined });
  }

  /** Describes a memory to store. It is the same whenever it is asked for, as all attempts make one request. */
  #newMemory(caller: Caller, namespace: string, { superseded, ...storeOptions }: StoreOptions) {
    const text = `text ${this.#stores++}`;
    const name = keyOf({ ...caller, namespace });
    let described: { operation: Storing; request: BatchMemory } | undefined;
    return () => {
      const id = superseded === undefined ? undefined : this.#history.pick(name, superseded);
      const asked = { ...storeOptions, ...(id !== undefined && { supersedes: [id] }) };
      described ??= {
        operation: { name, text, ...asked },
        request: {
          text,
          ...expiryOf(asked),
          ...asked,
          ...(asked.onSimilar && { similarAbove: SIMILAR_ABOVE }),
        },
      };
      return described;
    };
  }

  /** Plans a write, and recalls after it: even the very next one must find it, on any process. */
  #planAttempts(atMs: number, { caller, namespace, attempt, isRepeated }: Attempts): void {
    const tried = () => attempt().finally(() => this.#recall(this.#any, caller, namespace));
    this.#begin(atMs, tried);
    if (!isRepeated) return;
    // A caller with a key tries again, maybe while the first call still runs, maybe long after.
    for (let tries = this.time.pick([1, 1, 2]); tries > 0; tries--) {
      this.#begin(atMs + this.time.between(0, this.time.pick([100, 15_000, 60_000, 120_000])), tried);
    }
  }

  /** Chooses what a store at a time asks for beyond a memory. */
  #storeOptions(atMs: number): StoreOptions {
    const options = this.#oneOption(atMs);
    return this.shape.mixesOptions && this.time.chance(0.5) ? { ...options, ...this.#expiry(atMs) } : options;
  }

  #expiry(atMs: number): StoreOptions {
    return { expiresMs: atMs + this.time.between(0, this.time.pick([2_000, 60_000, 200_000])) };
  }

  /** Chooses one option of a store, mostly none. */
  #oneOption(atMs: number): StoreOptions {
    const { time } = this;
    const kind = time.random();
    if (kind < 0.55) return {};
    if (kind < 0.8) {
      const onConflict = time.pick(["replace", "replace", "keep", "keep", "refuse"] as const);
      return { externalId: time.pick(EXTERNAL_IDS), onConflict };
    }
    if (kind < 0.92) return { superseded: this.#anyMemory() };
    return this.#expiry(atMs);
  }

  /** Plans a new text for some memory. */
  #planUpdate(atMs: number, caller: Caller, namespace: string): void {
    const text = `text ${this.#updates++} updated`;
    const idempotencyKey = this.time.chance(0.3) ? text : undefined;
    const name = keyOf({ ...caller, namespace });
    const chosen = this.#anyMemory();
    let id: string | undefined;
    const attempt = async () => {
      // All attempts make the same request.
      id ??= this.#history.pick(name, chosen);
      if (id === undefined) return;
      const operation = { name, text, id };
      const request = { namespace, id, text, idempotencyKey };
      await this.#history.updating(operation, (bill) => this.#any.updateMemory(caller, request, bill));
    };
    this.#planAttempts(atMs, { caller, namespace, attempt, isRepeated: idempotencyKey !== undefined });
  }

  async #recall(process: Process, caller: Caller, namespace: string): Promise<void> {
    await this.#history.recalling(keyOf({ ...caller, namespace }), async (bill) => {
      const mode = this.time.chance(0.5) ? "hybrid" : "cosine";
      // Every memory is later than that, but the memories must be selected first.
      const after = this.time.chance(0.3) ? 0 : undefined;
      const { results } = await process.recall(caller, { namespace, mode, after }, bill);
      return results.map(({ entry, words }) => ({ id: entry.id, text: entry.text, words }));
    });
  }

  #export(caller: Caller, namespace: string): Promise<void> {
    return this.#history.exporting(keyOf({ ...caller, namespace }), () =>
      this.#any.exportMemories(caller, namespace),
    );
  }

  #delete(caller: Caller, namespace: string): Promise<void> {
    const operation = { name: keyOf({ ...caller, namespace }), chance: this.#anyMemory() };
    return this.#history.deleting(operation, (id) => this.#any.deleteMemory(caller, { namespace, id }));
  }

  /** Deletes the memories with one external id, superseded ones as well. */
  #deleteByFilter(caller: Caller, namespace: string): Promise<void> {
    const externalId = this.time.pick(EXTERNAL_IDS);
    const filter = { $external_id: externalId };
    const operation = { namespace, ids: [], filter, includeSuperseded: true };
    const mine = keyOf({ ...caller, namespace });
    return this.#history.dropping(
      (version) => version.name === mine && version.externalId === externalId,
      async () => {
        const { more } = await this.#any.deleteMemories(caller, operation);
        if (more) throw new Error("some may be left");
      },
    );
  }

  /** Adds a mark to the metadata of some memories, or of all. */
  async #mark(mark: string): Promise<void> {
    const { time } = this;
    const [caller, namespace] = [time.pick(this.#callers), NAMESPACES[0] as string];
    const name = keyOf({ ...caller, namespace });
    const known = [1, 2, 3].flatMap(() => this.#history.pick(name, this.#anyMemory()) ?? []);
    const ids = time.chance(0.4) ? [...new Set(known)] : [];
    const filter = ids.length > 0 ? undefined : { never: { $exists: false } };
    const request = { namespace, ids, filter, metadata: { [mark]: 1 }, remove: [] };
    await this.#history.marking({ name, mark, ids }, async () => {
      const failed: string[] = [];
      let pageToken = "";
      for (let calls = 0; calls < MARKING_CALLS_MAX; calls++) {
        // A page that fails is asked for again.
        const page = await this.#any.updateMemories(caller, { ...request, pageToken }).catch(() => undefined);
        failed.push(...(page?.failed ?? []).map(({ id }) => id));
        pageToken = page?.nextPageToken ?? pageToken;
        if (page?.nextPageToken === "") return failed;
      }
      throw new Error("some may be left");
    });
  }

  /** Lets the clock of a process jump; at times it is right again. */
  #setClock(): void {
    const { time } = this;
    const { clockErrorMs } = this.shape;
    time.pick(this.#processes).aheadMs = time.pick([0, 1, -1]) * time.between(0, clockErrorMs);
  }

  #drop(caller: Caller, namespace: string): Promise<void> {
    const dropped = keyOf({ ...caller, namespace });
    return this.#history.dropping(
      ({ name }) => name === dropped,
      () => this.#any.deleteNamespace(caller, namespace),
    );
  }

  #close(caller: Caller): Promise<void> {
    const prefix = keyOf({ ...caller, namespace: "" });
    return this.#history.dropping(
      ({ name }) => name.startsWith(prefix),
      () => this.#any.closeAccount(caller),
    );
  }

  /** Pins another model, like the operator's command, or gives the last change up. */
  #changeModel(): void {
    const { models } = this.#db;
    const [before, present] = [models.at(-2), models.at(-1)];
    // A database without a model has nothing to change.
    if (present === undefined) return;
    const next = { ...present.model, id: String(models.length + 1) };
    const model = before !== undefined && this.time.chance(0.5) ? before.model : next;
    this.#db.models = [...models, { modelVersion: `e${models.length}`, model }];
  }

  #kill(): void {
    if (this.#settling) return;
    const i = Math.floor(this.time.random() * this.#processes.length);
    (this.#processes[i] as Process).die();
    this.#processes[i] = this.#newProcess();
  }

  /** Chooses a memory by a number below 1: low for the latest. */
  #anyMemory(): number {
    return this.time.random() ** this.shape.focus;
  }

  get #any(): Process {
    return this.time.pick(this.#processes);
  }

  #newProcess(): Process {
    return new Process(this.#db, {
      exclusive: this.shape.exclusive,
      followsModel: this.shape.modelChanges > 0,
    });
  }

  #signUp(accountId: string): Caller {
    const keyHash = `key of ${accountId}`;
    const key = { id: keyHash, hash: keyHash, name: "", prefix: "", access: "full" } as const;
    this.#db.accounts.set(accountId, {
      id: accountId,
      email: "",
      plan: "free",
      createdAtMs: 0,
      callsLimit: CALLS_LIMIT,
      callsLeft: CALLS_LIMIT,
      keys: [{ ...key, createdAtMs: 0, expiresAtMs: Number.MAX_SAFE_INTEGER }],
    });
    return { accountId, keyHash, access: "full" };
  }

  #begin(delayMs: number, work: () => Promise<unknown>): void {
    this.#open++;
    this.time.at(delayMs, () => {
      // A call that fails is no fault. The history knows what it may have done.
      void work()
        .catch(() => {})
        .finally(() => this.#open--);
    });
  }

  /** Runs until the condition holds or the time is up. */
  async #until(isSo: () => boolean, limitMs: number): Promise<void> {
    const endMs = this.time.nowMs + limitMs;
    await this.time.runUntil(() => isSo() || this.time.nowMs >= endMs);
  }

  /** Ends the faults, so that interrupted work is swept and every process must agree. */
  async #settle(): Promise<void> {
    this.#db.faults = CALM;
    this.#settling = true;
    const processes = [...this.#processes, this.#newProcess()];
    // Paused processes continue and finish their work.
    for (const process of processes) Object.assign(process, { resumesAtMs: 0, aheadMs: 0 });
    await this.#until(() => false, SETTLING_MS);
    // What a late request put into the model before is found by a walk that comes after some time.
    await this.#until(() => this.#db.isMoved, REST_MS + SETTLING_MS);
    if (!this.#db.isMoved) throw new Error("the change of the model did not end");
    await this.#finish(() => this.#recallAll(processes));
    // A log that has moved is erased when its name has moved too, which those recalls ensured.
    for (const process of processes.slice(1)) process.die();
    await this.#until(() => false, SETTLING_MS);
    processes[0]?.die();
    this.#history.checkDatabase(this.#db);
  }

  async #recallAll(processes: readonly Process[]): Promise<void> {
    for (const process of processes) {
      for (const caller of this.#callers) {
        if (!this.#db.accounts.has(caller.accountId)) continue;
        for (const namespace of NAMESPACES) await this.#recall(process, caller, namespace);
      }
    }
  }

  async #finish(work: () => Promise<void>): Promise<void> {
    let done = false;
    let failure: unknown;
    void work()
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(() => {
        done = true;
      });
    await this.time.runUntil(() => done);
    if (failure !== undefined) throw failure;
  }
}
