import type { Clock } from "../../src/memory/clock.js";
import { copyTail } from "../../src/memory/copy.js";
import { editionOf, inEdition } from "../../src/memory/edition.js";
import { Editions } from "../../src/memory/editions.js";
import type { Embedder } from "../../src/memory/embedder.js";
import { deleteMemory, deleteNamespace, sweep } from "../../src/memory/forget.js";
import { Mover } from "../../src/memory/mover.js";
import { Namespaces } from "../../src/memory/namespaces.js";
import { Once } from "../../src/memory/once.js";
import { recall } from "../../src/memory/recall.js";
import { store } from "../../src/memory/store.js";
import { hit, plainIndex } from "../memory/plain-index.js";
import { claimsOf, Database, erasuresOf, type Faults, logOf, type Mistakes } from "./database.js";
import { History } from "./history.js";
import { VirtualTime } from "./time.js";

export interface Setup {
  readonly seed: number;
  readonly replicas: number;
  readonly operations: number;
  readonly faults: Faults;
  readonly mistakes?: Mistakes;
  /** The model changes meanwhile. */
  readonly moving?: boolean;
}

const CALLER = { accountId: "acc", keyHash: "hash", access: "full" } as const;
const NAMESPACES = ["a", "b"];
/** The editions before and after the model changes. */
const OLD = "";
const NEW = "new";
/** A recall shows 20 memories at most: no more are stored in a schedule, so that it shows all. */
const STORES_MAX = 18;
const END_MS = 600_000;

/** One process: the room's real code over the simulated database, until it dies. */
class Replica {
  alive = true;
  readonly ports;

  constructor(db: Database) {
    const clock = db.time.clockOf(this);
    const log = logOf(db, this);
    const vectors = {
      open: () => indexOfOneModel(),
      discard: async () => {},
      kept: async () => [],
      markOf: async () => undefined,
    };
    const erasures = erasuresOf(db, this);
    const editions = new Editions(OLD, modelOf(1, clock));
    editions.add(NEW, modelOf(2, clock));
    editions.known = new Set([OLD, NEW]);
    const mover = new Mover({ log, erasures, editions, clock });
    const namespaces = new Namespaces({
      log,
      editions,
      mover,
      clock,
      vectors,
      recent: { touch: async () => {}, list: async () => [], forget: async () => {} },
      indexMemoryBytesMax: Number.MAX_SAFE_INTEGER,
    });
    const once = new Once({ claims: claimsOf(db, this), log, clock, exclusive: false });
    this.ports = {
      log,
      clock,
      namespaces,
      once,
      vectors,
      erasures,
      editions,
      mover,
      meter: { charge: async () => {}, refund: async () => {}, verify: async () => {}, count: () => {} },
    };
  }
}

/** A model whose every vector is of this number. */
function modelOf(number: number, clock: Clock): Embedder {
  return {
    model: { id: String(number), revision: "", dtype: "", dimensions: 1 },
    embed: async () => {
      await clock.sleep(clock.random() * 10);
      return { vectors: Float32Array.of(number), tokens: 1 };
    },
  };
}

/** Finds all that it holds, and fails when the vectors are not of the query's model. */
function indexOfOneModel() {
  const index = plainIndex({
    search: async ({ vector, limit }) => {
      for (const { vectors } of index.rows.values()) {
        if (vectors[0]?.[0] !== vector[0]) throw new Error("two models met in one recall");
      }
      return [...index.rows.keys()].slice(0, limit).map(hit);
    },
  });
  return index;
}

/**
 * Runs one schedule and checks it: what was acknowledged is found by every later recall on every
 * replica exactly once, what was forgotten never again, and the logs are dense.
 *
 * @throws Error naming what was wrong.
 */
export async function simulate({
  seed,
  replicas,
  operations,
  faults,
  mistakes,
  moving = false,
}: Setup): Promise<void> {
  const time = new VirtualTime(seed);
  const db = new Database(time, faults, mistakes);
  const running = Array.from({ length: replicas }, () => new Replica(db));
  const history = new History(time);
  const any = () => Math.floor(time.random() * replicas);
  let stores = 0;
  let open = 0;
  const begin = (delayMs: number, work: () => Promise<unknown>) => {
    open++;
    time.at(delayMs, () => {
      // A call that fails is no fault: what it may have done, the history knows.
      void work()
        .catch(() => {})
        .finally(() => open--);
    });
  };

  for (let i = 0; i < operations; i++) {
    const namespace = NAMESPACES[time.chance(0.8) ? 0 : 1] as string;
    const atMs = time.between(0, 300);
    const kind = time.random();
    if (kind < 0.45 && stores < STORES_MAX) {
      const text = `text ${stores++}`;
      const idempotencyKey = time.chance(0.4) ? text : undefined;
      const attempt = async () => {
        await history.storing({ namespace, text }, () => storeOn(any()));
        // The very next recall, wherever it is asked, must find it.
        await recalling(any(), namespace);
      };
      const storeOn = async (i: number) => {
        const { ports } = running[i] as Replica;
        const { answered } = await store(ports, { caller: CALLER, text, namespace, idempotencyKey });
        return answered.id;
      };
      begin(atMs, attempt);
      // A caller with a key that tries again, maybe while the first call still runs.
      if (idempotencyKey !== undefined) begin(atMs + time.between(0, 100), attempt);
    } else if (kind < 0.75) {
      begin(atMs, () => recalling(any(), namespace));
    } else if (kind < 0.88) {
      begin(atMs, () =>
        history.deleting({ namespace, chance: time.random() }, (id) => {
          const { ports } = running[any()] as Replica;
          return deleteMemory(ports, { caller: CALLER, namespace, id });
        }),
      );
    } else if (kind < 0.92 && moving) {
      begin(atMs, () => moveOn(any(), namespace));
    } else if (kind < 0.94) {
      begin(atMs, () =>
        history.dropping(namespace, () => {
          const { ports } = running[any()] as Replica;
          return deleteNamespace(ports, { caller: CALLER, namespace, force: true });
        }),
      );
    } else {
      // A process dies in the middle of whatever it does, and another takes its place.
      time.at(atMs, () => {
        const i = any();
        (running[i] as Replica).alive = false;
        running[i] = new Replica(db);
      });
    }
  }

  /** A replica that has heard that the model changes copies a log, and then moves the namespace. */
  async function moveOn(i: number, namespace: string): Promise<void> {
    const { log, mover, editions } = (running[i] as Replica).ports;
    const scope = { accountId: CALLER.accountId, namespace };
    const from = await log.find(scope);
    if (from === undefined || editionOf(from) === NEW) return;
    const to = inEdition(from, NEW);
    await copyTail((running[i] as Replica).ports, { from, to });
    if (time.chance(0.3)) return;
    editions.newest = NEW;
    await mover.move(scope, from);
  }

  async function recalling(i: number, namespace: string): Promise<void> {
    const { ports } = running[i] as Replica;
    await history.recalling(namespace, async () => {
      const { results } = await recall(ports, { caller: CALLER, query: "q", namespace, topK: 20 });
      return results.map(({ entry }) => ({ id: entry.id, text: entry.text }));
    });
  }

  // Calls of a dead process never end: time decides.
  let over = false;
  time.at(END_MS, () => {
    over = true;
  });
  await time.runUntil(() => open === 0 || over);
  await settle(db, { time, history, replicas: running });
}

/** At the end nothing fails any more: unfinished erasures are swept, and every replica must agree. */
async function settle(
  db: Database,
  { time, history, replicas }: { time: VirtualTime; history: History; replicas: readonly Replica[] },
): Promise<void> {
  const calm = new Database(time, { lost: 0, unanswered: 0, late: 0, twice: 0 }, db.mistakes);
  Object.assign(calm, { logs: db.logs, heads: db.heads, claims: db.claims, erasures: db.erasures });
  time.nowMs += 120_000;
  let done = false;
  const work = async () => {
    const fresh = new Replica(calm);
    await sweep(fresh.ports);
    for (const { ports } of [fresh, ...replicas.map(() => new Replica(calm))]) {
      for (const namespace of NAMESPACES) {
        await history.recalling(namespace, async () => {
          const { results } = await recall(ports, { caller: CALLER, query: "q", namespace, topK: 20 });
          return results.map(({ entry }) => ({ id: entry.id, text: entry.text }));
        });
      }
    }
    // A log that has moved is erased when its name has moved too, which those recalls saw to.
    time.nowMs += 120_000;
    await sweep(fresh.ports);
    done = true;
  };
  const working = work();
  let failure: unknown;
  working.catch((error) => {
    failure = error;
    done = true;
  });
  await time.runUntil(() => done);
  if (failure !== undefined) throw failure;
  if (db.erasures.size > 0) throw new Error("an erasure was left over");
  history.checkLogs(db.logs);
}
