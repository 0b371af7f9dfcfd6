import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const MAVEN_TIMEOUT_MS = 120_000;

/** Finds the stand-in's libraries in the folder. Maven fetches them the first time. */
export async function findJars(folder: string): Promise<string> {
  const lib = join(folder, "lib");
  if (existsSync(lib)) return lib;
  const arriving = join(folder, `lib-${process.pid}`);
  const goal = ["-q", "dependency:copy-dependencies", `-DoutputDirectory=${arriving}`];
  try {
    // It runs so briefly that optimized code would not pay.
    const env = { ...process.env, MAVEN_OPTS: `-XX:TieredStopAtLevel=1 ${process.env.MAVEN_OPTS ?? ""}` };
    await run("mvn", goal, { cwd: folder, env, timeout: MAVEN_TIMEOUT_MS });
    // They appear all at once, because another process may be looking for them.
    await rename(arriving, lib);
  } catch (error) {
    if (!existsSync(lib)) throw new Error("Maven (mvn) could not bring the stand-in", { cause: error });
  } finally {
    await rm(arriving, { recursive: true, force: true });
  }
  return lib;
}
