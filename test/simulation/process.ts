import type { Accounts } from "../../src/accounts/account.js";
import { charge, getAccount } from "../../src/accounts/authenticate.js";
import { closeAccount } from "../../src/accounts/close.js";
import { dropAll } from "../../src/memory/erasure/drop.js";
import { sweepingWork } from "../../src/memory/erasure/sweeping.js";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { Namespaces } from "../../src/memory/log/namespaces.js";
import { warm } from "../../src/memory/log/warm.js";
import { ModelVersions, type OpenModel } from "../../src/memory/models/model-versions.js";
import { modelFor, Pins, pinned } from "../../src/memory/models/pin.js";
import { deleteMemories } from "../../src/memory/operations/delete-memories.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import type { ChangingRequest } from "../../src/memory/operations/ports.js";
import { type RecallRequest, recall } from "../../src/memory/operations/recall.js";
import { type StoreRequest, store } from "../../src/memory/operations/store.js";
import { type StoreBatchRequest, storeBatch } from "../../src/memory/operations/store-batch.js";
import { exportMemories } from "../../src/memory/operations/stream/export.js";
import { News } from "../../src/memory/operations/stream/news.js";
import { OpenStreams } from "../../src/memory/operations/stream/open-streams.js";
import { type UpdateRequest, updateMemory } from "../../src/memory/operations/update.js";
import { type UpdateMemoriesRequest, updateMemories } from "../../src/memory/operations/update-memories.js";
import type { ModelIdentity } from "../../src/memory/ports/embedder.js";
import type { Pinned } from "../../src/memory/ports/model-version.js";
import type { Quota } from "../../src/memory/ports/quota.js";
import { Moving } from "../../src/memory/reembedding/moving.js";
import { plainIndex } from "../memory/plain-index.js";
import { unsavedIndexes, vectorsOf } from "../memory/unsaved-indexes.js";
import type { Bill } from "./bills.js";
import type { Client, Database } from "./database.js";
import {
  accountsOf,
  claimsOf,
  erasuresOf,
  logOf,
  namesOf,
  secondaryIndexesOf,
  systemRecordsOf,
} from "./ports.js";

/** First model of a new database. Each model's id is the number in all its vectors. */
export const FIRST_MODEL = "1";
/** Interval at which a process looks for interrupted erasures. */
const SWEEP_MS = 60_000;
/** Maximum duration of a call, as in the server. */
const CALL_TIMEOUT_MS = 30_000;
const RESTART_MS = 500;

export interface Caller {
  readonly accountId: string;
  readonly keyHash: string;
  readonly access: "full";
}

/** Way to recall: by meaning alone or by words too, among all memories or those of some time. */
type RecallHow = Pick<RecallRequest, "mode" | "after">;

export interface ProcessOptions {
  /** True if it is the only process that can work on the database. */
  readonly exclusive: boolean;
  /** True if the model changes at some time, so the process must look which one is pinned. */
  readonly followsModel: boolean;
}

/** One process: the domain's real code over the simulated database, until it dies. */
export class Process implements Client {
  alive = true;
  resumesAtMs = 0;
  aheadMs = 0;
  /** Callers to inform when it dies, because their connections break. */
  readonly #dying = new Set<() => void>();
  readonly #domain: Promise<Domain>;

  constructor(
    private readonly db: Database,
    private readonly options: ProcessOptions,
  ) {
    this.#domain = this.#start();
    this.#domain.catch(() => {});
    void this.#startSweeping();
  }

  die(): void {
    this.alive = false;
    for (const tell of this.#dying) tell();
  }

  store(
    caller: Caller,
    request: Omit<StoreRequest, "caller">,
    bill: Bill<Awaited<ReturnType<typeof store>>>,
  ) {
    return this.#charged(bill, (domain, controller) => store(domain, { caller, ...request, controller }));
  }

  storeBatch(
    caller: Caller,
    request: Omit<StoreBatchRequest, "caller">,
    bill: Bill<Awaited<ReturnType<typeof storeBatch>>>,
  ) {
    return this.#charged(bill, (domain, controller) =>
      storeBatch(domain, { caller, ...request, controller }),
    );
  }

  updateMemory(caller: Caller, request: Omit<UpdateRequest, "caller">, bill: Bill) {
    return this.#charged(bill, (domain, controller) =>
      updateMemory(domain, { caller, ...request, controller }),
    );
  }

  updateMemories(caller: Caller, request: Omit<UpdateMemoriesRequest, "caller">) {
    return this.#call((domain, { signal }) => updateMemories(domain, { caller, ...request, signal }));
  }

  recall(caller: Caller, { namespace, ...how }: { namespace: string } & RecallHow, bill: Bill) {
    const request = { caller, query: "text", namespace, topK: 20, ...how };
    return this.#charged(bill, (domain, controller) => recall(domain, { ...request, controller }));
  }

  /** Exports a namespace with its vectors to a caller who takes some lines slowly; returns the lines. */
  exportMemories(caller: Caller, namespace: string) {
    return this.#call(async (domain, { signal }) => {
      const { clock } = domain;
      const ports = { ...domain, news: new News(clock), streams: new OpenStreams(clock) };
      const asked = { caller, namespace, includeVectors: true, signal, ending: signal };
      const lines: string[] = [];
      for await (const line of exportMemories(ports, asked)) {
        lines.push(line);
        if (this.db.time.chance(0.2)) await clock.sleep(this.db.time.between(0, 5_000));
      }
      return lines;
    });
  }

  deleteMemories(caller: Caller, request: Omit<ChangingRequest, "caller">) {
    return this.#call((domain, { signal }) => deleteMemories(domain, { caller, ...request, signal }));
  }

  deleteMemory(caller: Caller, request: { namespace: string; id: string }) {
    return this.#call((domain) => deleteMemory(domain, { caller, ...request }));
  }

  deleteNamespace(caller: Caller, namespace: string) {
    return this.#call((domain) => deleteNamespace(domain, { caller, namespace, force: true }));
  }

  closeAccount(caller: Caller) {
    return this.#call((domain) => {
      const usage = { remove: async () => {} };
      const eraseMemories = (accountId: string) => dropAll(domain, accountId);
      return closeAccount(
        {
          accounts: domain.accounts,
          grants: { remove: async () => {} },
          usage,
          eraseMemories,
          calls: { erase: async () => {} },
        },
        { caller, accountId: caller.accountId },
      );
    });
  }

  /** Makes a call that may cost something, and notes on its bill what it cost and how it ended. */
  #charged<T>(bill: Bill<T>, work: (domain: Domain, controller: AbortController) => Promise<T>): Promise<T> {
    this.db.bills.set(bill.controller.signal, bill);
    const noted = async (domain: Domain) => {
      try {
        const answer = await work({ ...domain, quota: billed(domain, bill) }, bill.controller);
        bill.answer(answer);
        return answer;
      } finally {
        bill.end();
      }
    };
    return this.#call(noted, bill.controller);
  }

  /** Makes one call as its caller sees it: it fails when the process dies or takes too long. */
  async #call<T>(
    work: (domain: Domain, controller: AbortController) => Promise<T>,
    controller = new AbortController(),
  ): Promise<T> {
    const { time } = this.db;
    const timeout = async () => {
      await time.sleep(CALL_TIMEOUT_MS);
      await time.awake(this);
      const late = new Error("the call took too long");
      controller.abort(late);
      throw late;
    };
    const broken = new Promise<never>((_, reject) => {
      this.#dying.add(() => reject(new Error("the connection broke")));
    });
    const working = this.#domain.then((domain) => work(domain, controller));
    return Promise.race([working, broken, timeout()]);
  }

  /** Starts as the program does, and again when the database fails. */
  async #start(): Promise<Domain> {
    const clock = this.db.time.clockOf(this);
    const systemRecords = systemRecordsOf(this.db, this);
    for (;;) {
      try {
        const models = await systemRecords.models();
        const model = this.#modelOf(modelFor(models.at(-1)?.model.id ?? FIRST_MODEL, models));
        const pins = await pinned(systemRecords, { model: model.model, models });
        return await this.#furnish(pins, model);
      } catch {
        await clock.sleep(RESTART_MS);
      }
    }
  }

  async #furnish(pins: readonly Pinned[], first: OpenModel): Promise<Domain> {
    const clock = this.db.time.clockOf(this);
    const modelVersions = new ModelVersions(new Pins(pins), first, {
      systemRecords: systemRecordsOf(this.db, this),
      clock,
      openModel: (model) => this.#load(model),
      onTrouble: () => {},
    });
    const domain = domainOf(this.db, this, { modelVersions, exclusive: this.options.exclusive });
    const { namespaces } = domain;
    if (this.options.followsModel) {
      void this.#keepMoving(new Moving({ ...domain, onTrouble: () => {}, onMoved: () => {} }));
    }
    const options = { names: domain.names, namespaces, onTrouble: () => {} };
    await warm({ ...options, stopping: new AbortController().signal });
    return domain;
  }

  async #keepMoving(moving: Moving): Promise<void> {
    const { time } = this.db;
    const clock = time.clockOf(this);
    for (;;) {
      await moving.step().catch(() => {});
      // It looks rarely while there is nothing to move, because every look costs simulation time.
      await clock.sleep(this.db.isMoved ? time.between(20_000, 60_000) : time.between(500, 3_000));
    }
  }

  async #startSweeping(): Promise<void> {
    const clock = this.db.time.clockOf(this);
    const domain = await this.#domain;
    const { isClosed } = domain.accounts;
    const works = sweepingWork({ ...domain, isClosed });
    await Promise.all(
      works.map(async (work) => {
        for (;;) {
          await clock.sleep(SWEEP_MS);
          await work().catch(() => {});
        }
      }),
    );
  }

  async #load({ id }: ModelIdentity): Promise<OpenModel> {
    const { time } = this.db;
    await time.clockOf(this).sleep(time.between(0, time.chance(0.2) ? 10_000 : 500));
    if (time.chance(this.db.faults.lost)) throw new Error("the model could not be loaded");
    return this.#modelOf(id);
  }

  /** Makes a model whose every vector consists of its number. */
  #modelOf(id: string): OpenModel {
    const { time } = this.db;
    const clock = time.clockOf(this);
    return {
      model: { id, revision: "", dtype: "", dimensions: 1 },
      embed: async ({ signal }) => {
        await clock.sleep(time.between(0, time.chance(0.05) ? 5_000 : 10));
        signal?.throwIfAborted();
        // The number of the bill, by which the history knows whose texts are in the logs.
        const tokens = (signal && this.db.bills.get(signal)?.number) ?? 0;
        return { vectors: Float32Array.of(Number(id)), tokens };
      },
      unreadShare: () => 0,
      close: async () => {},
    };
  }
}

type Domain = ReturnType<typeof domainOf>;

function domainOf(
  db: Database,
  process: Client,
  { modelVersions, exclusive }: { modelVersions: ModelVersions; exclusive: boolean },
) {
  const clock = db.time.clockOf(process);
  const logs = {
    log: logOf(db, process),
    names: namesOf(db, process),
    secondaryIndexes: secondaryIndexesOf(db, process),
  };
  const erasures = erasuresOf(db, process);
  const accounts = accountsOf(db, process);
  const vectors = vectorsOf(() => indexOfOneModel(db));
  const indexMemoryBytesMax = Number.MAX_SAFE_INTEGER;
  const { indexes } = unsavedIndexes({}, { vectors, clock: { yield: () => Promise.resolve() } });
  const derived = { indexes, indexMemoryBytesMax };
  const namespaces = new Namespaces({ ...logs, erasures, modelVersions, clock, ...derived });
  const idempotency = new Idempotency({ claims: claimsOf(db, process), ...logs, clock, exclusive });
  const quota = quotaOf(accounts);
  return {
    ...logs,
    clock,
    namespaces,
    idempotency,
    indexes,
    erasures,
    eraseCalls: () => db.request(process, () => {}),
    modelVersions,
    quota,
    accounts,
  };
}

function quotaOf(accounts: Accounts): Quota {
  return {
    charge: (caller, calls) => charge(accounts, caller, calls),
    verify: async (caller) => void (await getAccount(accounts, caller)),
    refund: ({ accountId }, calls) => accounts.refund(accountId, calls).catch(() => {}),
    count: () => {},
  };
}

/** Makes the quota as one call sees it, which notes its charges and refunds on the call's bill. */
function billed({ accounts }: Pick<Domain, "accounts">, bill: Pick<Bill, "calls" | "isUnclear">): Quota {
  const noted = async <T>(work: Promise<T>, calls: number, isDone = (_: T) => true): Promise<T> => {
    try {
      const outcome = await work;
      if (isDone(outcome)) bill.calls += calls;
      return outcome;
    } catch (error) {
      bill.isUnclear = true;
      throw error;
    }
  };
  return quotaOf({
    ...accounts,
    charge: (charge) => noted(accounts.charge(charge), charge.calls ?? 1, (isTaken) => isTaken),
    refund: (accountId, calls = 1) => noted(accounts.refund(accountId, calls), -calls),
  });
}

/** Makes vectors of an index that finds everything in it, and notes if vectors are not of the query's model. */
function indexOfOneModel(db: Database) {
  const index = plainIndex({
    search: async (query) => {
      for (const { vectors } of index.rows.values()) {
        if (vectors[0]?.[0] !== query.vector[0]) db.hasMixed = true;
      }
      return index.first(query);
    },
  });
  return index;
}
