import { type DriverOptions, PythonDriver } from "./python-driver.js";
import type { Description, Filling, Load, LoadOptions, System } from "./system.js";
import type { Corpus } from "./texts.js";

export interface PythonProduct {
  readonly id: string;
  readonly description: Omit<Description, "version">;
  /** True if the system runs inside the caller's process, so that a restart is one of that process. */
  readonly inProcess: boolean;
  /** Maximum duration of a series of calls, if a shorter one tells enough. */
  readonly secondsMax?: number;
}

export interface PythonOptions extends DriverOptions {
  readonly corpus: Corpus;
}

/** A system whose users call it from Python, and embed there, too. */
export class PythonSystem implements System {
  protected driver: PythonDriver;
  #version = "";
  #pids: number[] = [];

  constructor(
    private readonly product: PythonProduct,
    protected readonly options: PythonOptions,
  ) {
    this.driver = new PythonDriver(options, product.id);
  }

  get description(): Description {
    return { ...this.product.description, version: this.#version };
  }

  async start(): Promise<void> {
    this.started(await this.driver.ask("start"));
  }

  /** Takes what the driver says of the system that it has started. */
  protected started({ pids, version }: Record<string, unknown>): void {
    this.#pids = pids as number[];
    this.#version = version as string;
  }

  async fill({ from, to }: Filling): Promise<void> {
    const { texts, vectorsPath, dimensions } = this.options.corpus;
    const command = { from, texts: texts.slice(from, to), vectors: vectorsPath, dimensions };
    await this.driver.ask("fill", command);
  }

  store({ from, count, callers, secondsMax }: LoadOptions): Promise<Load> {
    const texts = this.options.corpus.texts.slice(from, from + count);
    return this.driver.load("store", { from, texts, callers, secondsMax: this.#bounded(secondsMax) });
  }

  recall({ from, count, callers, secondsMax }: LoadOptions): Promise<Load> {
    const texts = this.options.corpus.questions.slice(from, from + count);
    return this.driver.load("recall", { texts, callers, secondsMax: this.#bounded(secondsMax) });
  }

  async found(questions: readonly number[], topK: number): Promise<string[][]> {
    const texts = questions.map((i) => this.options.corpus.questions[i]);
    return (await this.driver.ask("found", { texts, topK })).found as string[][];
  }

  async restart(question: number): Promise<number> {
    if (this.product.inProcess) return this.#restartProcess(question);
    const text = this.options.corpus.questions[question];
    const { seconds, pids } = await this.driver.ask("restart", { text });
    this.#pids = pids as number[];
    return seconds as number;
  }

  pids() {
    const { pid } = this.driver;
    return this.product.inProcess ? { serving: [pid], calling: [] } : { serving: this.#pids, calling: [pid] };
  }

  async stop(): Promise<void> {
    await this.driver.ask("stop");
    await this.driver.end();
  }

  #bounded(secondsMax: number): number {
    return Math.min(secondsMax, this.product.secondsMax ?? secondsMax);
  }

  async #restartProcess(question: number): Promise<number> {
    await this.stop();
    const startMs = performance.now();
    this.driver = new PythonDriver(this.options, this.product.id);
    await this.start();
    await this.found([question], 1);
    return (performance.now() - startMs) / 1000;
  }
}
