import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Storage } from "../../src/storage/storage.js";
import { admin } from "../support/admin.js";
import { type Caller, resultsOf, type Sent, signUp } from "../support/caller.js";
import { type Chance, chanceOf } from "../support/chance.js";
import { OTHER_MODEL, otherModelsDir } from "../support/other-model.js";
import type { Outcome } from "../support/protocols.js";
import type { TestServer } from "../support/server.js";
import { type Filled, fillLogs } from "./fill.js";
import { type StoredMemory, storedMemoryOf } from "./load.js";

const NAMESPACES = ["a", "b", "c"];
/** Number of clients. Those that call a stopped process wait for it while the others continue. */
const CLIENTS = 12;
const LIST = "POST /recalld.v1.MemoryService/ListMemories";
/**
 * Minimum score of a text with its own vector, which differs only by float32's rounding. Two models never
 * reach it.
 */
const SAME = 0.999;
const CHECKED_AT_END = 300;
/** Maximum attempts at the end, when a server cannot answer yet. */
const ATTEMPTS_MAX = 30;
/**
 * Maximum stops and kills, and namespaces to drop: the change must come to its end on a stand-in that becomes slower
 * with everything that is written.
 */
const DISTURBED_MAX = 12;
const DROPS_MAX = 20;
/** Maximum starts of a killed server while its database is too busy to answer. */
const STARTS_MAX = 10;

export interface AsleepOptions {
  /** Starts a server on the database. */
  start(env: Record<string, string>): Promise<TestServer>;
  /** Opens the same database, to fill it without the servers. */
  open(): Promise<Storage>;
  readonly replicas: number;
  /** Settings that give the operator's command the database. */
  readonly env: Readonly<Record<string, string>>;
  readonly memories: number;
  /** Duration for which a process is stopped. */
  readonly asleepMs: { readonly min: number; readonly max: number };
  readonly seed: number;
}

export interface AsleepFigures {
  readonly answered: number;
  readonly unanswered: number;
  readonly stops: number;
  readonly kills: number;
  readonly kept: number;
  readonly forgotten: number;
  readonly tookMs: number;
}

/**
 * Changes the model of a database while its processes are stopped for a time (SIGSTOP) or killed, and
 * memories are stored, deleted and dropped. Afterwards every acknowledged memory exists, no forgotten one
 * does, and no recall met two models.
 *
 * @throws Error naming the first that was not so.
 */
export async function changeModelWhileAsleep(options: AsleepOptions): Promise<AsleepFigures> {
  const env = { MODELS_DIR: otherModelsDir(), FREE_CALLS: "1000000000", ...options.env };
  const servers: TestServer[] = [];
  for (let i = 0; i < options.replicas; i++) servers.push(await options.start(env));
  const load = new Load(servers, options.seed);
  const sandman = new Sandman(servers, { ...options, env, chance: chanceOf(options.seed + 1) });
  try {
    await load.fill(options);
    const begunMs = performance.now();
    const running = Promise.all([load.run(), sandman.run()]);
    // It is awaited below, after the change.
    running.catch(() => {});
    await reembed(env);
    const tookMs = performance.now() - begunMs;
    sandman.stopping = true;
    load.stopping = true;
    await running;
    const { kept, forgotten } = await load.checkAll();
    const { answered, unanswered } = load;
    const { stops, kills } = sandman;
    return { answered, unanswered, stops, kills, kept, forgotten, tookMs };
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
}

/** Runs the operator's command to its end. */
async function reembed(env: Record<string, string>): Promise<void> {
  const { code, stdout, stderr } = await admin(env, "reembed", OTHER_MODEL);
  if (code !== 0) throw new Error(`reembed ended with ${code}: ${(stdout + stderr).slice(-2000)}`);
}

interface SandmanOptions extends AsleepOptions {
  readonly chance: Chance;
}

/** Stops one process after another for a time, and sometimes kills one. */
class Sandman {
  stopping = false;
  stops = 0;
  kills = 0;

  constructor(
    private readonly servers: TestServer[],
    private readonly options: SandmanOptions,
  ) {}

  async run(): Promise<void> {
    const { chance, asleepMs } = this.options;
    while (!this.stopping && this.stops + this.kills < DISTURBED_MAX) {
      const i = chance.below(this.servers.length);
      if (chance.next() < 0.2) await this.#kill(i);
      else await this.#stop(i, asleepMs.min + chance.next() * (asleepMs.max - asleepMs.min));
      await sleep(chance.next() * asleepMs.min);
    }
  }

  async #stop(i: number, ms: number): Promise<void> {
    const { pid } = this.servers[i] as TestServer;
    this.stops++;
    process.kill(pid, "SIGSTOP");
    await sleep(ms);
    process.kill(pid, "SIGCONT");
  }

  async #kill(i: number): Promise<void> {
    this.kills++;
    await (this.servers[i] as TestServer).kill();
    // It does not wait for readiness, because the first namespace may have to move to the other model.
    this.servers[i] = await this.#start();
  }

  /** Starts a server, and again if its database is too busy to answer, as an operator in a cluster would. */
  async #start(): Promise<TestServer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.options.start(this.options.env as Record<string, string>);
      } catch (error) {
        if (attempt === STARTS_MAX || !/MongoDB does not answer/.test((error as Error).message)) throw error;
      }
    }
  }
}

class Load {
  answered = 0;
  unanswered = 0;
  stopping = false;
  readonly #chance: Chance;
  readonly #stored = new Set<StoredMemory>();
  readonly #forgotten: StoredMemory[] = [];
  #callers: Caller[] = [];
  /** Number of namespaces that were to be dropped so far. */
  #drops = 0;

  constructor(
    private readonly servers: readonly TestServer[],
    seed: number,
  ) {
    this.#chance = chanceOf(seed);
  }

  /** Writes the first memories straight to the log: to store them takes longer than all that is checked. */
  async fill({ memories, open }: Pick<AsleepOptions, "memories" | "open">): Promise<void> {
    this.#callers = await Promise.all([1, 2].map(() => signUp(this.#url())));
    const made = Array.from({ length: memories }, () => this.#newMemory());
    const storage = await open();
    try {
      const fillings = made.map(({ caller, sent: { text, namespace } }) => ({
        scope: { accountId: caller.id, namespace },
        text,
      }));
      const filled = await fillLogs(storage, fillings);
      for (const [i, one] of made.entries()) this.#stored.add({ ...one, ...(filled[i] as Filled) });
    } finally {
      await storage.close();
    }
  }

  async run(): Promise<void> {
    const client = async () => {
      while (!this.stopping) {
        await this.#callOnce();
        await sleep(5);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  /** Checks all memories by the lists of their namespaces, and some by id and by recall. */
  async checkAll(): Promise<{ kept: number; forgotten: number }> {
    const [kept, forgotten] = [[...this.#stored], this.#forgotten];
    const there = await this.#listAll();
    for (const { id } of kept) if (!there.has(id)) throw new Error(`${id} was acknowledged and is lost`);
    for (const { id } of forgotten)
      if (there.has(id)) throw new Error(`${id} was forgotten and is there again`);
    for (let i = 0; i < CHECKED_AT_END; i++) {
      const one = this.#chance.pick(kept);
      await this.#expectCode(one, "ok");
      await this.#recallCheck(one, { attempts: ATTEMPTS_MAX });
      if (forgotten.length > 0) await this.#expectCode(this.#chance.pick(forgotten), "not_found");
    }
    return { kept: kept.length, forgotten: forgotten.length };
  }

  /** Lists the ids of all memories of all namespaces, dropped ones too. */
  async #listAll(): Promise<ReadonlySet<unknown>> {
    const dropped = Array.from({ length: this.#drops + 1 }, (_, i) => `dropped ${i}`);
    const all = new Set<unknown>();
    for (const caller of this.#callers) {
      for (const namespace of [...NAMESPACES, ...dropped]) {
        for (let page_token = ""; ; ) {
          const body = { namespace, page_size: 100, page_token };
          const page = await this.#answerOf(caller, (at) => at.call(LIST, { body }));
          if (page.code !== "ok") throw new Error(`a list fails: ${page.code}, ${page.message}`);
          for (const { id } of page.body.memories as JsonObject[]) all.add(id);
          page_token = String(page.body.next_page_token);
          if (page_token === "") break;
        }
      }
    }
    return all;
  }

  async #expectCode({ caller, sent, id }: StoredMemory, expected: string): Promise<void> {
    const { code } = await this.#answerOf(caller, (at) => at.get(sent.namespace, id));
    if (code !== expected) throw new Error(`${id} is ${code}, not ${expected}`);
  }

  /** Asks until a server answers: one that has just resumed or restarted may not be able to yet. */
  async #answerOf(caller: Caller, call: (at: Caller) => Promise<Outcome>): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await call(caller.at(this.#url()));
      if (outcome.code !== "unavailable" || attempt === ATTEMPTS_MAX) return outcome;
      await sleep(1_000);
    }
  }

  #url(): string {
    return this.#chance.pick(this.servers).url;
  }

  #callOnce(): Promise<void> {
    const kind = this.#chance.next();
    if (kind < 0.3) return this.#store();
    if (kind < 0.88) return this.#recall();
    return kind < 0.99 || this.#drops === DROPS_MAX ? this.#forget() : this.#drop();
  }

  /** Returns the outcome; that of a call without a good answer is not known. */
  async #outcomeOf(call: Promise<Outcome>): Promise<Outcome | undefined> {
    const outcome = await call.catch(() => undefined);
    const isOk = outcome?.code === "ok";
    if (isOk) this.answered++;
    else this.unanswered++;
    return isOk ? outcome : undefined;
  }

  #newMemory(): { caller: Caller; sent: Required<Sent> } {
    const namespace = this.#chance.pick([...NAMESPACES, this.#toDrop]);
    return {
      caller: this.#chance.pick(this.#callers),
      sent: { text: this.#chance.text(), namespace, metadata: {} },
    };
  }

  async #store(): Promise<void> {
    const { caller, sent } = this.#newMemory();
    const outcome = await this.#outcomeOf(caller.at(this.#url()).store(sent));
    // The order of a store and of a simultaneous drop of its namespace is not known.
    const isSafe = NAMESPACES.includes(sent.namespace) || sent.namespace === this.#toDrop;
    if (outcome !== undefined && isSafe) this.#stored.add(storedMemoryOf(caller, sent, outcome));
  }

  async #recall(): Promise<void> {
    const kept = this.#chance.pick([...this.#stored]);
    if (kept !== undefined) await this.#recallCheck(kept, { attempts: 0 });
  }

  /** Checks that a memory which is still kept when the answer comes is the first result for its own text. */
  async #recallCheck(kept: StoredMemory, { attempts }: { attempts: number }): Promise<void> {
    const { caller, sent, id } = kept;
    const outcome = await this.#outcomeOf(caller.at(this.#url()).recall(sent.text, sent.namespace, 3));
    if (outcome === undefined) {
      if (attempts === 0) return;
      // At the end, the question is repeated and must be answered at some time.
      if (attempts === 1) throw new Error("recalls fail though nothing is stopped any more");
      await sleep(1_000);
      return this.#recallCheck(kept, { attempts: attempts - 1 });
    }
    const [best] = resultsOf(outcome);
    if (!this.#stored.has(kept)) return;
    if (best?.id !== id) throw new Error(`${id} is not the first that its own text finds`);
    if (best.score < SAME) throw new Error(`${id} scores ${best.score} with its own text`);
  }

  async #forget(): Promise<void> {
    const kept = this.#chance.pick([...this.#stored]);
    if (kept === undefined) return;
    this.#stored.delete(kept);
    const { caller, sent, id } = kept;
    const outcome = await this.#outcomeOf(caller.at(this.#url()).forget(sent.namespace, id));
    if (outcome !== undefined) this.#forgotten.push(kept);
  }

  /** Namespace to drop next. Nothing is stored in it afterwards, because a drop may arrive late. */
  get #toDrop(): string {
    return `dropped ${this.#drops}`;
  }

  async #drop(): Promise<void> {
    const namespace = this.#toDrop;
    this.#drops++;
    const held = [...this.#stored].filter(({ sent }) => sent.namespace === namespace);
    for (const kept of held) this.#stored.delete(kept);
    for (const caller of this.#callers) {
      const outcome = await this.#outcomeOf(caller.at(this.#url()).drop(namespace));
      if (outcome !== undefined) this.#forgotten.push(...held.filter((kept) => kept.caller.id === caller.id));
    }
  }
}
