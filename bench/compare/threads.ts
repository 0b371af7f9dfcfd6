import { readdirSync, readFileSync } from "node:fs";

/** Processor time of a thread, in milliseconds since it began. */
export interface ThreadTime {
  readonly userMs: number;
  readonly systemMs: number;
}

/** Reads the processor time of every thread of a process, by thread id. Linux only; undefined elsewhere. */
export function threadTimes(pid: number): ReadonlyMap<string, ThreadTime> | undefined {
  if (process.platform !== "linux") return undefined;
  return new Map(readdirSync(`/proc/${pid}/task`).map((thread) => [thread, timeOf(pid, thread)]));
}

/**
 * Reads fields 14 and 15 of proc(5)'s stat, in hundredths of a second. The name before them may hold spaces.
 */
function timeOf(pid: number, thread: string): ThreadTime {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { userMs: Number(fields[11]) * 10, systemMs: Number(fields[12]) * 10 };
}
