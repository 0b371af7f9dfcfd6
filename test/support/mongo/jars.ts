import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAVEN_TIMEOUT_MS = 120_000;

/** Where the stand-in's libraries lie; Maven brings them the first time. */
export async function findJars(folder: string): Promise<string> {
  const lib = join(folder, "lib");
  if (existsSync(lib)) return lib;
  const arriving = join(folder, `lib-${process.pid}`);
  const goal = ["-q", "dependency:copy-dependencies", `-DoutputDirectory=${arriving}`];
  try {
    await run("mvn", goal, { cwd: folder, timeout: MAVEN_TIMEOUT_MS });
    // All at once: another process may be looking for them.
    await rename(arriving, lib);
  } catch (error) {
    if (!existsSync(lib)) throw new Error("Maven (mvn) could not bring the stand-in", { cause: error });
  } finally {
    await rm(arriving, { recursive: true, force: true });
  }
  return lib;
}
