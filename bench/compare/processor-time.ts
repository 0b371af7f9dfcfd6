import type { Load } from "./system.js";
import { namedThreads, threadTimes } from "./threads.js";

/** Milliseconds of processor time that one call took, in user and system mode. */
export interface ProcessorTime {
  /** Time in this process, which calls. */
  readonly clientMs: number;
  /** Time in each thread of the server, by the code that it runs; those without a name are together. */
  readonly threadsMs: Readonly<Record<string, number>>;
}

/** Measures the processor time of a series of calls; undefined outside Linux, where no file tells it. */
export async function processorTimeOf(
  { pid, namesFolder }: { pid: number; namesFolder: string },
  work: () => Promise<Load>,
): Promise<{ load: Load; time: ProcessorTime | undefined }> {
  const client = process.cpuUsage();
  const before = threadTimes(pid);
  const load = await work();
  const after = threadTimes(pid);
  const { user, system } = process.cpuUsage(client);
  if (before === undefined || after === undefined) return { load, time: undefined };
  const calls = load.latenciesMs.length;
  const names = new Map(namedThreads(namesFolder, pid).map(({ systemId, name }) => [systemId, name]));
  const threadsMs: Record<string, number> = {};
  for (const [id, { ms, systemName }] of after) {
    const name = names.get(id) ?? `others named ${systemName}`;
    threadsMs[name] = (threadsMs[name] ?? 0) + (ms - (before.get(id)?.ms ?? 0)) / calls;
  }
  return { load, time: { clientMs: (user + system) / 1000 / calls, threadsMs } };
}
