import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Profile as V8 writes it with --cpu-prof. */
interface Profile {
  readonly nodes: readonly { id: number; callFrame: Frame; children?: readonly number[] }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** Shares of one thread's time by module, largest first. */
export interface Shares {
  readonly pid: number;
  /** Number of the thread in Node; 0 is the main thread. */
  readonly thread: string;
  readonly modules: readonly (readonly [name: string, share: number])[];
  readonly functions: readonly (readonly [name: string, share: number])[];
}

/** Reads the last seconds of every thread of the process that ended last. Profiles are named by their end. */
export function sharesIn(folder: string, lastSeconds: number): Shares[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".cpuprofile"))
    .sort();
  const processOf = (name?: string) => name?.split(".")[3];
  return names
    .filter((name) => processOf(name) === processOf(names.at(-1)))
    .map((name) => shares(name, JSON.parse(readFileSync(join(folder, name), "utf8")), lastSeconds));
}

function shares(file: string, { nodes, samples, timeDeltas }: Profile, lastSeconds: number): Shares {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const modules = new Map<string, number>();
  const functions = new Map<string, number>();
  let left = lastSeconds * 1e6;
  for (let i = samples.length - 1; i >= 0 && left > 0; i--) {
    const frame = frames.get(samples[i] as number) as Frame;
    const micros = timeDeltas[i] as number;
    left -= micros;
    add(modules, moduleOf(frame), micros);
    add(functions, `${frame.functionName || "(anonymous)"} ${moduleOf(frame)}`, micros);
  }
  const total = [...modules.values()].reduce((sum, micros) => sum + micros, 0);
  const thread = /\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1] ?? file;
  const pid = Number(file.split(".")[3]);
  return { pid, thread, modules: ranked(modules, total), functions: ranked(functions, total) };
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros);
}

function ranked(sums: ReadonlyMap<string, number>, total: number): [string, number][] {
  return [...sums]
    .map(([name, micros]): [string, number] => [name, micros / total])
    .sort((a, b) => b[1] - a[1]);
}

/** Names a package, a file of ours, a module of Node, or what V8 writes in brackets. */
function moduleOf({ url, functionName }: Frame): string {
  const inPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (inPackage !== undefined) return inPackage;
  if (url.startsWith("node:")) return url.split("/").slice(0, 2).join("/");
  return url === "" ? `(${functionName.replace(/[()]/g, "")})` : url.replace(/^.*\/dist\//, "");
}
