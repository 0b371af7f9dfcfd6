import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const THREAD_NAMES = fileURLToPath(new URL("./thread-names.js", import.meta.url));

/** Processor time of a thread since it began. */
export interface ThreadTime {
  /** Name in the system. Node gives its threads none, so that they have the program's. */
  readonly systemName: string;
  /** Milliseconds in user and system mode. */
  readonly ms: number;
}

/** A thread of Node: its number in Node, its id in the system, and its code. */
export interface NamedThread {
  readonly threadId: number;
  readonly systemId: string;
  readonly name: string;
}

/** Reads the processor time of every thread of a process, by thread id. Linux only; undefined elsewhere. */
export function threadTimes(pid: number): ReadonlyMap<string, ThreadTime> | undefined {
  if (process.platform !== "linux") return undefined;
  return new Map(
    readdirSync(`/proc/${pid}/task`).map((thread) => [thread, timeIn(`/proc/${pid}/task/${thread}/stat`)]),
  );
}

/** Options for Node that let a program note the names of its threads in a folder. */
export function namingThreads(folder: string): string[] {
  const url = pathToFileURL(THREAD_NAMES);
  url.searchParams.set("folder", folder);
  return ["--import", url.href];
}

/** Reads what the threads of a process have noted. The main thread is the one whose number is 0. */
export function namedThreads(folder: string, pid: number): NamedThread[] {
  const notes = readdirSync(folder).filter((file) => file.startsWith(`${pid}-`));
  const threads = notes.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as NamedThread);
  return threads.map((one) => (one.threadId === 0 ? { ...one, name: "main thread" } : one));
}

/**
 * Reads the processor time of a process, of threads that have ended too, in milliseconds. Linux only; undefined
 * elsewhere, and when the process has ended.
 */
export function processTime(pid: number): number | undefined {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) ? timeIn(path).ms : undefined;
}

/**
 * Reads fields 14 and 15 of proc(5)'s stat, in hundredths of a second. The name before them may hold spaces.
 */
function timeIn(path: string): ThreadTime {
  const stat = readFileSync(path, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const systemName = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
  return { systemName, ms: (Number(fields[11]) + Number(fields[12])) * 10 };
}
