import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PLAIN } from "../../../dist/src/embedding/encode/convention.js";
import { run } from "../load.js";
import { RecalldClient } from "../recalld-client.js";
import type { Filling, Floor, Load, LoadOptions } from "../system.js";
import type { Corpus } from "../texts.js";

const SERVER = fileURLToPath(new URL("./server.js", import.meta.url));

export interface BareOptions {
  /** Place of the embedding: threads of its own, or its main thread. */
  readonly kind: "thread" | "main";
  readonly modelFolder: string;
  /** Number of embedding threads, as in recalld. */
  readonly workers: number;
  readonly corpus: Corpus;
  readonly folder: string;
  /** Number of vectors that a search finds; if left out, as many as are answered. */
  readonly neighbours?: number;
}

/** A server that only embeds and searches, in its own process, called as recalld is. */
export class BareServer implements Floor {
  port = 0;
  #server: ChildProcess | undefined;
  #client: RecalldClient | undefined;

  constructor(private readonly options: BareOptions) {}

  get pid(): number {
    return this.#server?.pid as number;
  }

  async start(): Promise<void> {
    const { kind, modelFolder, workers, corpus, folder, neighbours } = this.options;
    const model = { folder: modelFolder, convention: PLAIN };
    const argument = JSON.stringify({ kind, model, workers, dimensions: corpus.dimensions, neighbours });
    const log = openSync(join(folder, `bare-${kind}.log`), "a");
    this.#server = fork(SERVER, [argument], { stdio: ["ignore", log, log, "ipc"], execArgv: [] });
    this.port = ((await this.#said()) as { port: number }).port;
    this.#client = new RecalldClient(this.port);
  }

  async fill({ from, to }: Filling): Promise<void> {
    const { corpus, folder } = this.options;
    const graphPath = join(folder, `bare-${to}.usearch`);
    const { texts, vectorsPath } = corpus;
    this.#server?.send({ from, some: texts.slice(from, to), vectorsPath, graphPath });
    await this.#said();
  }

  recall(options: LoadOptions): Promise<Load> {
    const { questions } = this.options.corpus;
    const client = this.#client as RecalldClient;
    return run((i) => client.post("/recall", { query: questions[i] }), options);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#client?.close();
    if (server === undefined || server.exitCode !== null) return;
    const ended = once(server, "exit");
    server.disconnect();
    await ended;
  }

  #said(): Promise<unknown> {
    const server = this.#server as ChildProcess;
    return new Promise((resolve, reject) => {
      const ended = (code: number | null) =>
        reject(new Error(`the bare server ended with ${code}: see its log in ${this.options.folder}`));
      server.once("exit", ended);
      server.once("message", (message) => {
        server.off("exit", ended);
        resolve(message);
      });
    });
  }
}
