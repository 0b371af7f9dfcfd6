import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../../../src/storage/within.js";
import { findJars } from "./jars.js";
import type { TestServer } from "./server.js";

const FOLDER = import.meta.dirname;
const START_TIMEOUT_MS = 30_000;
/** Options for a small JVM that starts quickly rather than runs quickly. */
const JVM = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g"];

/** A server that a test can stop and start again. */
export interface StandIn extends TestServer {
  /** Kills it with kill -9; answered writes are kept. */
  kill(): Promise<void>;
  /** Starts it again after a kill, on the same port and data. */
  restart(): Promise<void>;
  /** Freezes it: connections stay open, but once this resolves, no answers come. */
  pause(): Promise<void>;
  resume(): void;
}

/**
 * Starts mongo-java-server on a new folder.
 *
 * @throws Error when Java or Maven is missing.
 */
export async function startStandIn(): Promise<StandIn> {
  const lib = await findJars(FOLDER);
  const data = await mkdtemp(join(tmpdir(), "recalld-mongo-"));
  const discard = () => rm(data, { recursive: true, force: true });
  const start = (port: number) => launch({ lib, port, file: join(data, "data.mv") });
  let { jvm, port } = await start(0).catch(async (error) => {
    await discard();
    throw error;
  });
  return {
    uri: `mongodb://127.0.0.1:${port}`,
    kind: "mongo-java-server (a stand-in)",
    kill: () => end(jvm, () => jvm.kill("SIGKILL")),
    restart: async () => {
      ({ jvm, port } = await start(port));
    },
    pause: async () => {
      jvm.kill("SIGSTOP");
      await untilStopped(jvm.pid as number);
    },
    resume: () => void jvm.kill("SIGCONT"),
    stop: async () => {
      await end(jvm, () => jvm.kill("SIGKILL"));
      await discard();
    },
  };
}

/**
 * Resolves when every thread of a process has stopped: the stop signal returns before it reaches those on other
 * cores, and they still answer for a moment. Where there is no /proc, that moment is waited for.
 */
async function untilStopped(pid: number): Promise<void> {
  if (process.platform !== "linux") return sleep(100);
  while (!(await threadStates(pid)).every((state) => state === "T" || state === "")) await sleep(1);
}

/** Reads the state of each thread: the letter behind its name in /proc (proc_pid_stat(5)); one that just ended has none. */
async function threadStates(pid: number): Promise<string[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const read = (id: string) => readFile(`/proc/${pid}/task/${id}/stat`, "utf8").catch(() => "");
  const stats = await Promise.all(threads.map(read));
  return stats.map((stat) => stat.charAt(stat.lastIndexOf(")") + 2));
}

async function launch(of: { lib: string; port: number; file: string }) {
  const args = [...JVM, "-cp", join(of.lib, "*"), "MongoStandIn.java", String(of.port), of.file];
  const jvm = spawn("java", args, { cwd: FOLDER, stdio: ["pipe", "pipe", "ignore"] });
  try {
    return { jvm, port: await within(START_TIMEOUT_MS, portOf(jvm)) };
  } catch (error) {
    jvm.kill("SIGKILL");
    throw new Error("Java could not start the stand-in", { cause: error });
  }
}

/** Reads the port that it reports. */
async function portOf(jvm: ChildProcess & { stdout: NodeJS.ReadableStream }): Promise<number> {
  const ended = once(jvm, "exit").then(() => {
    throw new Error("it ended at once");
  });
  const [line] = await Promise.race([once(jvm.stdout, "data"), ended]);
  return Number(/^ready (\d+)/.exec(String(line))?.[1]);
}

async function end(jvm: ChildProcess, how: () => void): Promise<void> {
  if (jvm.exitCode !== null || jvm.signalCode !== null) return;
  const ended = once(jvm, "exit");
  how();
  await ended;
}
