import { run } from "./load.js";
import { PythonSystem } from "./python-system.js";
import { RecalldClient } from "./recalld-client.js";
import type { Load, LoadOptions } from "./system.js";

/** A system behind an HTTP server that embeds. It is called as recalld is, from this process. */
export class HttpSystem extends PythonSystem {
  #client = new RecalldClient(0);

  protected override started(said: Record<string, unknown>): void {
    super.started(said);
    this.#client.close();
    this.#client = new RecalldClient(said.port as number);
    this.#client.key = said.key as string;
  }

  override store(options: LoadOptions): Promise<Load> {
    const { texts } = this.options.corpus;
    return run((i) => this.#client.post("/store", { text: texts[i] }), options);
  }

  override recall(options: LoadOptions): Promise<Load> {
    return run((i) => this.#recall(i), options);
  }

  override async found(questions: readonly number[], topK: number): Promise<string[][]> {
    const found: string[][] = [];
    for (const i of questions) found.push((await this.#recall(i, topK)).map(({ text }) => text));
    return found;
  }

  override async restart(question: number): Promise<number> {
    await this.driver.ask("stop");
    const startMs = performance.now();
    await this.start();
    await this.#recall(question);
    return (performance.now() - startMs) / 1000;
  }

  /** The driver only starts and stops the servers. */
  override pids() {
    return { serving: super.pids().serving, calling: [] };
  }

  override async stop(): Promise<void> {
    this.#client.close();
    await super.stop();
  }

  async #recall(i: number, topK?: number): Promise<{ text: string }[]> {
    const query = this.options.corpus.questions[i];
    const { results } = await this.#client.post("/recall", { query, top_k: topK });
    return results as { text: string }[];
  }
}
