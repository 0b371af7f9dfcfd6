import type { Calls, Figure } from "./figures.js";
import type { LoopDelay } from "./recalld.js";
import type { Resident } from "./resident.js";
import type { Description } from "./system.js";

/** Results of one run, as `bench/results.json` keeps them. */
export interface Results {
  readonly date: string;
  readonly machine: string;
  readonly model: { readonly id: string; readonly workers: number };
  readonly rounds: number;
  /** Lowest cosine between our vectors and those of the clients in Python. */
  readonly agreement: number | null;
  readonly systems: Readonly<Record<string, Description>>;
  readonly sizes: readonly AtSize[];
  readonly targets: Targets;
}

/** Figures by number of callers, then by system; `embedder` and `embedder-python` are the floor. */
export type ByCallers = Readonly<Record<string, Readonly<Record<string, Calls>>>>;

export interface AtSize {
  readonly memories: number;
  readonly recall: ByCallers;
  readonly store: ByCallers;
  /** Share of the true five nearest that were found. */
  readonly found: Readonly<Record<string, number>>;
  readonly resident: Readonly<Record<string, { serving: Resident; calling: Resident } | null>>;
  readonly restartSeconds: Readonly<Record<string, Figure>>;
}

/** Targets of recalld. Ratios are medians of the rounds' ratios. */
export interface Targets {
  readonly memories: number;
  /** p50 of a recall with one caller, divided by the embedder's. */
  readonly recallOverEmbedder: Figure;
  /** Stores a second with 16 callers, divided by the bare pool's texts a second. */
  readonly storesOverEmbedder: Figure;
  /** p99 of a recall while 16 callers store, divided by that of an idle service. */
  readonly busyOverIdle: Figure;
  /** Event-loop delay of the server during that, in the worst round. */
  readonly loopDelay: LoopDelay;
  /** Recalls and stores a second, divided by each other system's, by the number of callers. */
  readonly recallsOver: Readonly<Record<string, Readonly<Record<string, Figure>>>>;
  readonly storesOver: Readonly<Record<string, Readonly<Record<string, Figure>>>>;
}
