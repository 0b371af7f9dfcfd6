import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { type Caller, resultsOf, type Sent, signUp } from "../support/caller.js";
import { chanceOf } from "../support/chance.js";
import { earlierRelease, OTHER_MODEL, otherModelsDir } from "../support/other-model.js";
import { program } from "../support/program.js";
import type { TestServer } from "../support/server.js";
import { inParallel, outcomeOf, type StoredMemory, storedMemoryOf } from "./load.js";

const ADMIN = program("admin");
const NAMESPACES = ["a", "b", "c"];
const CLIENTS_DEFAULT = 4;
const FILLERS = 4;
/** Number of memories that are stored, and looked for, by one call where it is the memories that count. */
const BATCH = 50;
const PAUSE_MS_DEFAULT = 2;
/**
 * Minimum score of a text with its own vector, which differs only by float32's rounding. Two models never
 * reach it.
 */
const SAME = 0.999;
const RECALLED_AT_END = 300;

export interface ReembedOptions {
  /** Starts a server on the database, of the program whose main.js is given or of this one. */
  start(env: Record<string, string>, main?: string): Promise<TestServer>;
  readonly replicas: number;
  /** Settings that give the operator's command the database. */
  readonly env: Readonly<Record<string, string>>;
  /** Model to change to, and the settings that find it; if left out, one of the test's own that is loaded. */
  readonly model?: { readonly id: string; readonly env: Readonly<Record<string, string>> };
  readonly memories: number;
  /** True if a release with another bundled model wrote the memories, and this one moves them to its own. */
  readonly upgrades?: boolean;
  readonly clients?: number;
  /** Pause between two calls of a client. */
  readonly pauseMs?: number;
  /** Share of entries with vectors of the new model at which the first server is killed with -9. */
  readonly killAt?: number;
  readonly seed: number;
}

export interface ReembedFigures {
  readonly calls: number;
  readonly recalls: number;
  readonly kills: number;
  readonly tookMs: number;
}

/**
 * Changes the model of a database under load. Every call succeeds except those in flight at a kill. Every
 * memory is the first result for its own text, with a score that two models could not give.
 *
 * @throws Error naming the first call that failed.
 */
export async function changeModelUnderLoad(options: ReembedOptions): Promise<ReembedFigures> {
  const { upgrades = false, clients = CLIENTS_DEFAULT, pauseMs = PAUSE_MS_DEFAULT } = options;
  const id = upgrades ? "bundled" : OTHER_MODEL;
  const model = options.model ?? { id, env: { MODELS_DIR: otherModelsDir(id) } };
  const env: Readonly<Record<string, string>> = { ...model.env, FREE_CALLS: "1000000000" };
  const servers: TestServer[] = [];
  const start = async (main?: string) => {
    for (let i = 0; i < options.replicas; i++) servers[i] = await options.start(env, main);
  };
  await start(upgrades ? earlierRelease(env.MODELS_DIR ?? "") : undefined);
  const load = new Load(servers, options.seed);
  try {
    await load.fill(options.memories);
    if (upgrades) {
      for (const server of servers) await server.stop();
      await start();
    }
    const begunMs = performance.now();
    const restart = async () => {
      await load.pausedWhile(async () => {
        await servers[0]?.kill();
        servers[0] = await options.start(env);
      });
    };
    const change = reembed({ ...options, model: model.id, env: { ...env, ...options.env } }, restart);
    const ended = change.then((kills) => ({ kills, tookMs: performance.now() - begunMs }));
    const [{ kills, tookMs }] = await Promise.all([
      ended.finally(() => load.stop()),
      load.run(clients, pauseMs),
    ]);
    await load.checkAll();
    return { calls: load.calls, recalls: load.recalls, kills, tookMs };
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
}

/** Runs the operator's command to its end, and returns how often the server was killed meanwhile. */
async function reembed(
  { env, killAt, model }: Pick<ReembedOptions, "env" | "killAt"> & { readonly model: string },
  restart: () => Promise<void>,
): Promise<number> {
  const child = spawn(process.execPath, [ADMIN, "reembed", model], {
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  let said = "";
  let restarting: Promise<void> | undefined;
  const listen = (chunk: Buffer) => {
    said += chunk;
    const progress = /([\d,]+) of ([\d,]+) entries are made(?!.*entries)/s.exec(said);
    const [done = 0, total = 0] = (progress?.slice(1) ?? []).map((number) =>
      Number(number.replaceAll(",", "")),
    );
    if (killAt !== undefined && total > 0 && done >= killAt * total) restarting ??= restart();
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const code = await new Promise((resolve) => child.once("close", resolve));
  await restarting;
  if (code !== 0 || !said.includes(`set MODEL=${model}`))
    throw new Error(`reembed ended with ${code}: ${said}`);
  if (killAt !== undefined && restarting === undefined)
    throw new Error(`it was over before the kill: ${said}`);
  return restarting === undefined ? 0 : 1;
}

class Load {
  calls = 0;
  recalls = 0;
  readonly #chance;
  readonly #stored: StoredMemory[] = [];
  readonly #forgotten: StoredMemory[] = [];
  /** Memories for which a deletion is in progress. */
  readonly #leaving = new Set<string>();
  #callers: Caller[] = [];
  #stopping = false;
  /** Resolves when the killed server is back. */
  #paused: Promise<void> | undefined;

  constructor(
    private readonly servers: readonly TestServer[],
    seed: number,
  ) {
    this.#chance = chanceOf(seed);
  }

  async fill(memories: number): Promise<void> {
    this.#callers = await Promise.all([1, 2].map(() => signUp(this.#url())));
    await inParallel({ times: Math.ceil(memories / BATCH), parallel: FILLERS }, (i) =>
      this.#storeBatch(Math.min(BATCH, memories - i * BATCH)),
    );
  }

  async run(clients: number, pauseMs: number): Promise<void> {
    const client = async () => {
      while (!this.#stopping) {
        await this.#paused;
        await this.#callOnce();
        await sleep(pauseMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  stop(): void {
    this.#stopping = true;
  }

  async pausedWhile(work: () => Promise<void>): Promise<void> {
    this.#paused = work().finally(() => {
      this.#paused = undefined;
    });
    await this.#paused;
  }

  /**
   * Checks some of the kept memories by recall and all of them by id, and that every forgotten one is gone.
   */
  async checkAll(): Promise<void> {
    for (const { caller, namespace, ids } of batchesOf(this.#stored)) {
      const path = `POST ${caller.pathOf(namespace)}/memories/get`;
      const { code, body } = await caller.at(this.#url()).call(path, { body: { ids } });
      if (code !== "ok") throw new Error(`${ids.length} memories are not got: ${code}`);
      const found = new Set((body.memories as JsonObject[]).map(({ id }) => id));
      const lost = ids.filter((id) => !found.has(id));
      if (lost.length > 0) throw new Error(`${lost} are lost`);
    }
    for (let i = 0; i < RECALLED_AT_END; i++) await this.#recall(this.#chance.pick(this.#stored));
    for (const { caller, sent, id } of this.#forgotten) {
      const { code } = await caller.at(this.#url()).get(sent.namespace, id);
      if (code !== "not_found") throw new Error(`${id} was forgotten and is there again: ${code}`);
    }
  }

  #url(): string {
    return this.#chance.pick(this.servers).url;
  }

  async #callOnce(): Promise<void> {
    const kind = this.#chance.next();
    const paused = () => this.#paused !== undefined;
    const call =
      kind < 0.3
        ? this.#store()
        : kind < 0.9
          ? this.#recall(this.#chance.pick(this.#stored))
          : this.#forget();
    // Calls in flight at the kill may end without an answer.
    await call.catch((error: unknown) => {
      if (!paused()) throw error;
    });
  }

  async #storeBatch(count: number): Promise<void> {
    const caller = this.#chance.pick(this.#callers);
    const namespace = this.#chance.pick(NAMESPACES);
    const memories = Array.from({ length: count }, () => ({ text: this.#chance.text() }));
    const body = { namespace, memories };
    const { code, message, body: answer } = await caller.at(this.#url()).call("POST /store/batch", { body });
    if (code !== "ok") throw new Error(`store of a batch: ${code}, ${message}`);
    for (const [i, { stored }] of (answer.results as { stored?: JsonObject }[]).entries()) {
      if (stored === undefined) throw new Error("a memory of a batch is not stored");
      const sent = { text: memories[i]?.text as string, namespace, metadata: {} };
      this.#stored.push({ caller, sent, id: String(stored.id), createdAt: String(stored.created_at) });
    }
  }

  async #store(): Promise<void> {
    const caller = this.#chance.pick(this.#callers);
    const sent: Required<Sent> = {
      text: this.#chance.text(),
      namespace: this.#chance.pick(NAMESPACES),
      metadata: {},
    };
    const outcome = await outcomeOf(caller.at(this.#url()).store(sent));
    if (outcome === "unanswered") throw new Error("a store was not answered");
    if (outcome.code !== "ok") throw new Error(`store: ${outcome.code}, ${outcome.message}`);
    this.calls++;
    this.#stored.push(storedMemoryOf(caller, sent, outcome));
  }

  async #recall({ caller, sent, id }: StoredMemory): Promise<void> {
    const [best] = resultsOf(await caller.at(this.#url()).recall(sent.text, sent.namespace, 3));
    this.calls++;
    this.recalls++;
    if (this.#leaving.has(id)) return;
    if (best?.id !== id) throw new Error(`${id} is not the first that its own text finds`);
    if (best.score < SAME) throw new Error(`${id} scores ${best.score} with its own text`);
  }

  async #forget(): Promise<void> {
    const at = this.#chance.below(this.#stored.length);
    const [kept] = this.#stored.splice(at, 1) as [StoredMemory];
    this.#leaving.add(kept.id);
    const { code, message } = await kept.caller.at(this.#url()).forget(kept.sent.namespace, kept.id);
    this.calls++;
    if (code !== "ok") throw new Error(`delete: ${code}, ${message}`);
    this.#forgotten.push(kept);
  }
}

/** Groups memories by account and namespace, so many that one call may ask for them. */
function batchesOf(memories: readonly StoredMemory[]) {
  const groups = new Map<string, StoredMemory[]>();
  for (const memory of memories) {
    const key = `${memory.caller.id} ${memory.sent.namespace}`;
    groups.set(key, [...(groups.get(key) ?? []), memory]);
  }
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / BATCH) }, (_, i) => {
      const some = group.slice(i * BATCH, (i + 1) * BATCH);
      const [{ caller, sent }] = some as [StoredMemory];
      return { caller, namespace: sent.namespace, ids: some.map(({ id }) => id) };
    }),
  );
}
