import { readFile } from "node:fs/promises";
import { builtInPlans, type Plans } from "../accounts/plan.js";
import { parsePlans } from "../accounts/plans-file.js";
import type { Config } from "../config.js";
import { MemoryError } from "../errors.js";

/** The plans that the settings name. @throws MemoryError `failed_precondition`, naming the file and the field. */
export async function readPlans({ plansFile, freeCalls }: Config): Promise<Plans> {
  if (plansFile === undefined) return builtInPlans(freeCalls);
  const text = await readFile(plansFile, "utf8").catch((cause) => {
    const message = `PLANS_FILE ${plansFile} cannot be read: ${cause.message}`;
    throw new MemoryError("failed_precondition", message, { cause });
  });
  return parsePlans(text, plansFile);
}
