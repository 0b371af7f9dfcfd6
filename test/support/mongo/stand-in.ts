import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { killChild, startChild } from "./child.js";
import { findJars } from "./jars.js";
import type { TestServer } from "./server.js";

const FOLDER = import.meta.dirname;
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
    kill: () => killChild(jvm),
    restart: async () => {
      ({ jvm, port } = await start(port));
    },
    pause: async () => {
      jvm.kill("SIGSTOP");
      await untilStopped(jvm.pid as number);
    },
    resume: () => void jvm.kill("SIGCONT"),
    stop: async () => {
      await killChild(jvm);
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

async function launch(options: { lib: string; port: number; file: string }) {
  const args = [
    ...JVM,
    "-cp",
    join(options.lib, "*"),
    "MongoStandIn.java",
    String(options.port),
    options.file,
  ];
  const { child, port } = await startChild("java", args, FOLDER).catch((error) => {
    throw new Error("Java could not start the stand-in", { cause: error });
  });
  return { jvm: child, port };
}
