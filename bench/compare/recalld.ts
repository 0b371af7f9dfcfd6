import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openLocal } from "../../dist/src/storage/local/open.js";
import { VERSION } from "../../dist/src/version.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { unhurried } from "../../test/support/server.js";
import { idle } from "./idle.js";
import { run } from "./load.js";
import { processorTimeOf } from "./processor-time.js";
import { RecalldClient } from "./recalld-client.js";
import type { Description, Filling, Load, LoadOptions, System } from "./system.js";
import type { Corpus, Model } from "./texts.js";
import { namingThreads } from "./threads.js";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const LOOP_DELAY = fileURLToPath(new URL("./loop-delay.js", import.meta.url));
const NAMESPACE = "bench";
const FILLED_AT_A_TIME = 512;
const START_TIMEOUT_MS = 180_000;

export interface RecalldOptions {
  readonly folder: string;
  readonly corpus: Corpus;
  readonly model: Model;
  /** Options for Node, before the program. */
  readonly nodeArguments?: readonly string[];
  /** Existing folder in which each server's threads note their names. */
  readonly namesFolder: string;
  /** Settings in place of the defaults. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Runs the real program in its own process with its defaults, and calls it over HTTP with JSON. */
export class Recalld implements System {
  readonly description: Description = {
    name: "recalld",
    version: VERSION,
    called: "JSON over HTTP; the server embeds",
    index: "HNSW, the newest exact; scores from the stored float32 vectors",
    durable: "loss of power: LMDB, synced",
  };
  readonly #dataDir: string;
  readonly #port: number;
  #server: ChildProcess | undefined;
  #client: RecalldClient;
  #key = "";
  #accountId = "";

  private constructor(
    private readonly options: RecalldOptions,
    port: number,
  ) {
    this.#dataDir = join(options.folder, "recalld");
    this.#port = port;
    this.#client = new RecalldClient(port);
  }

  static async open(options: RecalldOptions): Promise<Recalld> {
    return new Recalld(options, await freePort());
  }

  async start(): Promise<void> {
    this.#spawn();
    await this.#until(async () => (await fetch(`http://127.0.0.1:${this.#port}/readyz`)).ok);
    if (this.#key) return;
    const { api_key, account_id } = await this.#client.post("/signup", {});
    this.#key = String(api_key);
    this.#accountId = String(account_id);
    this.#client.key = this.#key;
  }

  async store(options: LoadOptions): Promise<Load> {
    const { texts } = this.options.corpus;
    return run((i) => this.#client.post("/store", { text: texts[i], namespace: NAMESPACE }), options);
  }

  async recall(options: LoadOptions & { until?: AbortSignal; mode?: "HYBRID" }): Promise<Load> {
    const { mode } = options;
    return run((i) => this.#recall(i, { mode }), options);
  }

  async found(questions: readonly number[], topK: number): Promise<string[][]> {
    const found: string[][] = [];
    for (const i of questions) found.push((await this.#recall(i, { topK })).map(({ text }) => text));
    return found;
  }

  /** Writes memories to the log by its adapter, because no call takes vectors, and waits until they are indexed. */
  async fill({ from, to }: Filling): Promise<void> {
    await this.stop();
    const storage = await openLocal({ dataDir: this.#dataDir });
    const logId = await storage.names.create({ accountId: this.#accountId, namespace: NAMESPACE });
    for (let at = from; at < to; at += FILLED_AT_A_TIME) {
      const size = Math.min(FILLED_AT_A_TIME, to - at);
      const entries = Array.from({ length: size }, (_, i) => this.#entry(at + i));
      const written = await storage.log.append({ logId, from: at + 1, entries });
      if (written !== size) throw new Error(`memory ${at + written + 1} is in the log already`);
    }
    await storage.close();
    await this.start();
    await this.#recall(0);
    await idle(this.pids().serving);
  }

  async restart(question: number): Promise<number> {
    await this.stop();
    const startMs = performance.now();
    this.#spawn();
    await this.#until(() => this.#recall(question).then(() => true));
    return (performance.now() - startMs) / 1000;
  }

  /** Measures how long the server's event loop was blocked during some work. */
  async loopDelayDuring(work: () => Promise<unknown>): Promise<LoopDelay> {
    this.#server?.send("begin");
    await work();
    this.#server?.send("end");
    const [delay] = await once(this.#server as ChildProcess, "message");
    return delay as LoopDelay;
  }

  /** Runs calls and measures the processor time of each of the server's threads for one of them. */
  processorTimeOf(work: () => Promise<Load>) {
    const [pid] = this.pids().serving as [number];
    return processorTimeOf({ pid, namesFolder: this.options.namesFolder }, work);
  }

  pids() {
    return { serving: [this.#server?.pid as number], calling: [] };
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#client.close();
    if (server === undefined) return;
    server.kill("SIGTERM");
    const [code] = await once(server, "exit");
    if (code !== 0) throw new Error(`recalld ended with ${code}: see ${this.#dataDir}.log`);
  }

  #spawn(): void {
    const log = openSync(`${this.#dataDir}.log`, "a");
    const { model, modelsDir } = this.options.model;
    const env = unhurried({
      PATH: process.env.PATH ?? "",
      PORT: String(this.#port),
      DATA_DIR: this.#dataDir,
      MODEL: model,
      MODELS_DIR: modelsDir,
      FREE_CALLS: "1000000000",
      // There is no balancer here.
      DRAIN_NOTICE_MS: "0",
      ...this.options.env,
    });
    const { nodeArguments = [], namesFolder } = this.options;
    const imports = ["--import", LOOP_DELAY, ...namingThreads(namesFolder)];
    this.#server = spawn(process.execPath, [...nodeArguments, ...imports, MAIN], {
      env,
      stdio: ["ignore", log, log, "ipc"],
    });
    this.#client = new RecalldClient(this.#port);
    this.#client.key = this.#key;
  }

  async #until(answers: () => Promise<boolean>): Promise<void> {
    const endMs = performance.now() + START_TIMEOUT_MS;
    while (!(await answers().catch(() => false))) {
      const ended = this.#server?.exitCode != null;
      if (ended || performance.now() > endMs)
        throw new Error(`recalld did not start: see ${this.#dataDir}.log`);
      await sleep(5);
    }
  }

  async #recall(
    i: number,
    { topK, mode }: { topK?: number; mode?: string | undefined } = {},
  ): Promise<{ text: string }[]> {
    const query = this.options.corpus.questions[i];
    const asked = { query, namespace: NAMESPACE, top_k: topK, mode };
    const { results } = await this.#client.post("/recall", asked);
    return results as { text: string }[];
  }

  #entry(i: number): Stored {
    const { texts, vectors, dimensions } = this.options.corpus;
    const id = `mem_${i.toString(32).padStart(26, "0")}`;
    return {
      op: "store",
      opId: id,
      id,
      text: texts[i] as string,
      metadata: "{}",
      vectors: vectors.slice(i * dimensions, (i + 1) * dimensions),
      tokens: 20,
      createdAtMs: Date.now(),
    };
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}
