import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Side } from "./retrieval-set.js";
import { type Extent, FULL, QUICK, USUAL } from "./sample.js";

export const MODELS = ["bundled", "Xenova/all-MiniLM-L6-v2"] as const;

const HYBRID = " HYBRID";

/** Names the system that recalls by a model and by words. */
export function hybridOf(model: string): string {
  return model + HYBRID;
}

export function isHybrid(system: string): boolean {
  return system.endsWith(HYBRID);
}

export interface Options {
  readonly data: string;
  readonly side: Side;
  readonly models: readonly string[];
  readonly modelsDir: string;
  readonly workers: number;
  /** Names of the sets; without it, all that the data has. */
  readonly sets?: readonly string[];
  readonly extent: Extent;
  /** Earlier run to continue. Results that this run does not measure are taken from there. */
  readonly onto?: string;
  readonly quick: boolean;
}

export const USAGE = `npm run eval -- quality --data FOLDER [--models ${MODELS.join(",")}] [--models-dir FOLDER]
                 [--sets locomo,stsb-test] [--side dev|heldout] [--quick | --full] [--onto eval/.runs/RUN.json]
npm run eval -- quality --page      only writes docs/quality.md again, from eval/results.json

The data may be named by EVAL_DATA, the models' folder by MODELS_DIR. eval/README.md says what is in the data.`;

/**
 * Reads the options.
 *
 * @throws Error that names the wrong option.
 */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options | "page" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string", default: env.EVAL_DATA },
      side: { type: "string", default: "dev" },
      models: { type: "string", default: MODELS.join(",") },
      "models-dir": { type: "string", default: env.MODELS_DIR ?? "data/models" },
      sets: { type: "string" },
      quick: { type: "boolean", default: false },
      full: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      onto: { type: "string" },
    },
  });
  if (values.page) return "page";
  const { data, side, quick, full, sets, onto } = values;
  if (data === undefined) throw new Error("no data: name its folder with --data or EVAL_DATA");
  if (!existsSync(data)) throw new Error(`--data ${data}: there is no such folder`);
  if (side !== "dev" && side !== "heldout") throw new Error(`--side ${side}: dev or heldout`);
  if (quick && full) throw new Error("--quick and --full: one of them");
  return {
    data: resolve(data),
    side,
    models: values.models.split(","),
    modelsDir: resolve(values["models-dir"]),
    // The service chooses this by default.
    workers: Math.max(1, availableParallelism() - 1),
    ...(sets !== undefined && { sets: sets.split(",") }),
    extent: quick ? QUICK : full ? FULL : USUAL,
    ...(onto !== undefined && { onto }),
    quick,
  };
}
