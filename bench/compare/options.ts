import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { BUNDLED } from "../../dist/src/embedding/models/locate.js";

export const SYSTEM_IDS = ["recalld", "chroma", "pgvector", "pgvector-http", "lancedb"] as const;
export type SystemId = (typeof SYSTEM_IDS)[number];

/** Amounts that are measured. */
export interface Extent {
  /** Numbers of memories, growing, at which everything is measured. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly recalls: number;
  readonly stores: number;
  /** Maximum duration of a series of calls, whatever its count. */
  readonly secondsMax: number;
}

const FULL: Extent = {
  sizes: [1000, 10_000, 50_000, 100_000],
  rounds: 5,
  recalls: 1000,
  // Ten such series from one size stay far enough below the next.
  stores: 400,
  secondsMax: 2.5,
};
const QUICK: Extent = { ...FULL, sizes: [1000, 10_000], rounds: 3, secondsMax: 2 };

/** Numbers of callers of the series of calls. */
export const CALLERS = [1, 16] as const;

export interface Options extends Extent {
  readonly systems: readonly SystemId[];
  readonly model: string;
  readonly modelsDir: string;
  readonly workers: number;
  /** Full run, as the page shows it. */
  readonly complete: boolean;
  /** Writes only the page, from earlier measurements. */
  readonly pageOnly: boolean;
}

export const USAGE = `npm run bench -- compare [--quick] [--systems ${SYSTEM_IDS.join(",")}] [--sizes 1000,10000] [--rounds 5] [--seconds 2.5] [--model ID --models-dir FOLDER]
npm run bench -- compare --page     only writes docs/performance.md again, from bench/results.json`;

/**
 * Reads the options.
 *
 * @throws Error that names the wrong option.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      systems: { type: "string", default: SYSTEM_IDS.join(",") },
      sizes: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      model: { type: "string", default: BUNDLED },
      "models-dir": { type: "string", default: "data/models" },
    },
  });
  const extent = values.quick ? QUICK : FULL;
  const sizes = values.sizes?.split(",").map(Number) ?? extent.sizes;
  if (!sizes.every((size) => Number.isInteger(size) && size > 0)) {
    throw new Error(`--sizes ${values.sizes}: whole numbers between commas`);
  }
  const rounds = Number(values.rounds ?? extent.rounds);
  const secondsMax = Number(values.seconds ?? extent.secondsMax);
  if (!(Number.isInteger(rounds) && rounds > 0 && secondsMax > 0))
    throw new Error("--rounds is a whole number, and --seconds a number, above 0");
  const systems = SYSTEM_IDS.filter((id) => values.systems.split(",").includes(id));
  const unknown = values.systems.split(",").filter((id) => !(SYSTEM_IDS as readonly string[]).includes(id));
  if (unknown.length > 0)
    throw new Error(`--systems ${unknown.join(",")}: there are ${SYSTEM_IDS.join(", ")}`);
  if (!systems.includes("recalld"))
    throw new Error("--systems: all ratios are to recalld, so it must be there");
  return {
    ...extent,
    sizes,
    rounds,
    secondsMax,
    systems,
    model: values.model,
    modelsDir: resolve(values["models-dir"]),
    // The service chooses this by default: one core is left to everything but embedding.
    workers: Math.max(1, availableParallelism() - 1),
    complete:
      systems.length === SYSTEM_IDS.length &&
      values.model === BUNDLED &&
      ["quick", "sizes", "rounds", "seconds"].every((name) => !values[name as keyof typeof values]),
    pageOnly: values.page,
  };
}
