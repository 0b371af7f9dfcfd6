/** Sizes of each part: `long` is what is promised, `short` shows that the part itself works. */
export const SIZES = {
  simulator: { long: 100_000, short: 2_000 },
  kills: { long: 300, short: 10 },
  replicas: { long: 10_000, short: 300 },
  retries: { long: 10_000, short: 300 },
  races: { long: 10_000, short: 300 },
  watching: { long: 10_000, short: 400 },
  moving: { long: 100_000, short: 300 },
  /** Number of stores and recalls together. */
  sessions: { long: 20_000, short: 200 },
  sequences: { long: 10_000, short: 300 },
  outage: { long: 60_000, short: 6_000 },
  snapshots: { long: 1_000, short: 100 },
  reembed: { long: 20_000, short: 1_000 },
  asleep: { long: 20_000, short: 500 },
  backup: { long: 20_000, short: 300 },
  rolling: { long: 120_000, short: 25_000 },
  /** Number of lists at once. Other calls are fewer. */
  largest: { long: 300, short: 60 },
  /** Duration of half a round, in milliseconds. */
  flood: { long: 8_000, short: 2_000 },
  /** Number of examples of each operation. */
  foreign: { long: 20, short: 3 },
} as const;
export type Name = keyof typeof SIZES;

/** Parts that run only when they are named, because they fetch tools. */
export const OPTIONAL: readonly string[] = ["foreign"];
