import { readdirSync, readFileSync } from "node:fs";

/** Memory of processes and all their children, in bytes. Pages that several share are counted once. */
export interface Resident {
  /** Memory of the processes themselves. */
  readonly own: number;
  /** Pages of files that the system may drop, such as those of a memory-mapped database. */
  readonly files: number;
}

/** Reads the memory. Undefined outside Linux, because no other system tells what is shared. */
export function resident(pids: readonly number[]): Resident | undefined {
  if (process.platform !== "linux") return undefined;
  const all = pids.flatMap(withChildren).map(proportional);
  const sum = (bytesOf: (one: Resident) => number) => all.reduce((total, one) => total + bytesOf(one), 0);
  return { own: sum(({ own }) => own), files: sum(({ files }) => files) };
}

function withChildren(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    childrenIn(`/proc/${pid}/task/${thread}/children`),
  );
  return [pid, ...children.flatMap(withChildren)];
}

function childrenIn(path: string): number[] {
  try {
    return readFileSync(path, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    // The thread has ended meanwhile.
    return [];
  }
}

/** Reads PSS: each page's size divided by the number of processes that map it. */
function proportional(pid: number): Resident {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const bytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB`, "m").exec(rollup)?.[1]) * 1024;
  return { own: bytes("Pss_Anon") + bytes("Pss_Shmem"), files: bytes("Pss_File") };
}
