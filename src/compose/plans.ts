import { readFile } from "node:fs/promises";
import { builtInPlans, type Plans } from "../accounts/plan.js";
import { parsePlans } from "../accounts/plans-file.js";
import { type Config, ConfigError } from "../config.js";
import { MemoryError } from "../errors.js";

/**
 * Reads the plans that the settings name. @throws ConfigError with every problem, naming the file and the
 * field.
 */
export async function readPlans({ plansFile, freeCalls }: Config): Promise<Plans> {
  if (plansFile === undefined) return builtInPlans(freeCalls);
  const text = await readFile(plansFile, "utf8").catch((error) => {
    throw new ConfigError([`PLANS_FILE ${plansFile} cannot be read: ${error.message}`]);
  });
  try {
    return parsePlans(text, plansFile);
  } catch (error) {
    throw error instanceof MemoryError ? new ConfigError(error.message.split("\n")) : error;
  }
}
