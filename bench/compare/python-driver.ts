import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Load } from "./system.js";

const DRIVER = fileURLToPath(new URL("../python/driver.py", import.meta.url));

export interface DriverOptions {
  /** Interpreter of the environment that has the packages. */
  readonly python: string;
  readonly modelFolder: string;
  readonly folder: string;
}

/** Process with the model and a system's client. Commands and answers are lines of JSON. */
export class PythonDriver {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  /** Name of the program: `bench/python/SYSTEM_system.py`, or `embedder` for the model alone. */
  constructor({ python, modelFolder, folder }: DriverOptions, system: string) {
    const dataDir = join(folder, system);
    mkdirSync(dataDir, { recursive: true });
    const log = openSync(join(folder, `${system}-client.log`), "a");
    // Chroma's client reports its usage to its makers unless it is told not to.
    const env = { ...process.env, ANONYMIZED_TELEMETRY: "False", PYTHONDONTWRITEBYTECODE: "1" };
    const argument = JSON.stringify({ system, modelFolder, dataDir });
    this.#child = spawn(python, [DRIVER, argument], { env, stdio: ["pipe", "pipe", log] });
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#answers = lines[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /**
   * Sends a command and awaits its answer.
   *
   * @throws Error with the system's message when it failed.
   */
  async ask(op: string, command: object = {}): Promise<Record<string, unknown>> {
    this.#child.stdin?.write(`${JSON.stringify({ op, ...command })}\n`);
    const { value, done } = await this.#answers.next();
    if (done) throw new Error(`the Python driver ended while it was asked to ${op}`);
    const answer = JSON.parse(value) as Record<string, unknown>;
    if (answer.error !== undefined) throw new Error(`${op}: ${answer.error}`);
    return answer;
  }

  /** Sends a command whose answer is how long its calls took. */
  async load(op: string, command: object): Promise<Load> {
    return (await this.ask(op, command)) as unknown as Load;
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
  }
}
