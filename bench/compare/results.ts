import type { Calls, Figure } from "./figures.js";
import type { ProcessorTime } from "./processor-time.js";
import type { ProfiledId } from "./profiled.js";
import type { Resident } from "./resident.js";
import type { Description } from "./system.js";
import type { TargetId } from "./targets.js";

/** Results of one run, as `bench/results.json` keeps them. */
export interface Results {
  readonly date: string;
  readonly machine: string;
  /** Processes that ran when the run began, as the system averages them over a minute. */
  readonly load: number;
  readonly model: { readonly id: string; readonly workers: number };
  readonly rounds: number;
  /** Lowest cosine between our vectors and those of the clients in Python. */
  readonly agreement: number | null;
  readonly systems: Readonly<Record<string, Description>>;
  readonly sizes: readonly AtSize[];
}

/** Figures by number of callers, then by system or floor (`floors.ts`). */
export type ByCallers = Readonly<Record<string, Readonly<Record<string, Calls>>>>;

export interface AtSize {
  readonly memories: number;
  readonly recall: ByCallers;
  readonly store: ByCallers;
  /** Share of the true ten nearest that were found. */
  readonly found: Readonly<Record<string, number>>;
  readonly resident: Readonly<Record<string, { serving: Resident; calling: Resident } | null>>;
  readonly restartSeconds: Readonly<Record<string, Figure>>;
  /** Processor time of recalld's threads for a call, by the series of `PROFILED`; empty outside Linux. */
  readonly processor: Readonly<Partial<Record<ProfiledId, ProcessorTime>>>;
  /** Figures of recalld by their targets' ids; those over a system that was not measured are absent. */
  readonly targets: Readonly<Partial<Record<TargetId, Figure>>>;
}
