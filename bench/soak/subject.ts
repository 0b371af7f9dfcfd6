import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.js";
import { unhurried } from "../../test/support/server.js";
import { resident } from "../compare/resident.js";

const MAIN = fileURLToPath(new URL("../../dist/src/main.js", import.meta.url));
const PROBE = fileURLToPath(new URL("./probe.js", import.meta.url));
const START_TIMEOUT_MS = 60_000;
const ANSWER_TIMEOUT_MS = 30_000;

/** Resources that the server holds at a moment. */
export interface Sample {
  readonly seconds: number;
  /** Memory of the process itself, without pages of files, which the system may drop. */
  readonly ownBytes: number;
  readonly heapUsedBytes: number;
  /** Open file descriptors: connections, files, pipes. */
  readonly descriptors: number;
  /**
   * Resources that keep Node's event loop alive: sockets, timers, requests, threads
   * (`process.getActiveResourcesInfo`).
   */
  readonly resources: number;
  /** Event-loop delay since the previous sample. */
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
}

type Probed = Pick<Sample, "delayP99Ms" | "delayMaxMs" | "resources" | "heapUsedBytes">;

/**
 * The real program in its own process, with a probe in it. Linux only, because no other system tells all
 * this.
 */
export class Subject {
  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly begunMs: number,
  ) {}

  static async start(folder: string): Promise<Subject> {
    if (process.platform !== "linux") throw new Error("the soak reads /proc, so it needs Linux");
    const port = await freePort();
    const logFile = join(folder, "server.log");
    const log = openSync(logFile, "a");
    const env = unhurried({
      PATH: process.env.PATH ?? "",
      PORT: String(port),
      DATA_DIR: join(folder, "data"),
      EMBED_WORKERS: "1",
      FREE_CALLS: "1000000000",
      SIGNUPS_PER_HOUR: "10000000",
      SIGNUPS_PER_HOUR_TOTAL: "10000000",
      DRAIN_NOTICE_MS: "500",
    });
    const child = spawn(process.execPath, ["--import", PROBE, MAIN], {
      env,
      stdio: ["ignore", log, log, "ipc"],
    });
    const endMs = performance.now() + START_TIMEOUT_MS;
    const ready = () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => ok);
    while (!(await ready().catch(() => false))) {
      if (child.exitCode !== null || performance.now() > endMs) {
        child.kill("SIGKILL");
        throw new Error(`the server did not start: see ${logFile}`);
      }
      await sleep(50);
    }
    return new Subject(port, child, performance.now());
  }

  async sample(): Promise<Sample> {
    const pid = this.child.pid as number;
    const answer = once(this.child, "message", { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    this.child.send("sample");
    const [probed] = (await answer) as [Probed];
    return {
      seconds: (performance.now() - this.begunMs) / 1000,
      ownBytes: (resident([pid]) as { own: number }).own,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      ...probed,
    };
  }

  /**
   * Stops the server.
   *
   * @throws Error when it does not end well.
   */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null)
      throw new Error(`the server ended by itself, with ${this.child.exitCode}`);
    const exited = once(this.child, "exit");
    this.child.kill("SIGTERM");
    const [code] = await exited;
    if (code !== 0) throw new Error(`the server ended with ${code}`);
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }
}
