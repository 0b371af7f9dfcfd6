import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { killChild, startChild } from "./child.js";
import type { Missing, TestServer } from "./server.js";

const SCRIPT = join(import.meta.dirname, "../../../scripts/ferretdb.sh");
/** Time limit of a build. The first takes two minutes of processor time. */
const BUILD_TIMEOUT_MS = 480_000;

/**
 * Starts FerretDB on a new folder, and builds it the first time; where it cannot be built, REQUIRE_FERRETDB=1 makes
 * that an error.
 */
export async function startFerretdb(env = process.env): Promise<TestServer | Missing> {
  let program: string;
  try {
    program = (await promisify(execFile)(SCRIPT, { timeout: BUILD_TIMEOUT_MS })).stdout.trim();
  } catch (error) {
    const { killed, stderr } = error as { killed: boolean; stderr: string };
    const reason = `no FerretDB: ${killed ? "it was not built in time" : stderr.trim()}`;
    if (env.REQUIRE_FERRETDB === "1") throw new Error(reason, { cause: error });
    console.log(reason);
    return { reason };
  }
  const data = await mkdtemp(join(tmpdir(), "recalld-ferretdb-"));
  const { child, port } = await startChild(program, [data], data);
  const stop = async () => {
    await killChild(child);
    await rm(data, { recursive: true, force: true });
  };
  return { uri: `mongodb://127.0.0.1:${port}`, kind: "FerretDB 1 (a stand-in)", stop };
}
