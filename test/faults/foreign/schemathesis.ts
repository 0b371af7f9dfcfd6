import { join } from "node:path";
import { signUp } from "../../support/caller.js";
import { newDataDir } from "../../support/server.js";
import { run, type Tools } from "./tool.js";

const FAULTS = join(import.meta.dirname, "..");
const TIMEOUT_MS = 900_000;
/** These two end the key that the others need. */
const ENDING = "_(CloseAccount|RevokeKey)$";

export interface Explored {
  readonly cases: number;
  readonly operations: number;
}

interface ExploreOptions {
  readonly url: string;
  /** Of each operation, in each phase. */
  readonly examples: number;
  readonly seed: number;
}

/**
 * Calls everything that `/openapi.json` describes, as it says and otherwise, with all of schemathesis'
 * checks. What it may find and is meant so stands in schemathesis.toml.
 *
 * @throws Error with what it found else.
 */
export async function explore(tools: Tools, options: ExploreOptions): Promise<Explored> {
  const most = await runOnce(tools, options, ["--exclude-operation-id-regex", ENDING]);
  const ending = await runOnce(tools, options, ["--include-operation-id-regex", ENDING]);
  return { cases: most.cases + ending.cases, operations: most.operations + ending.operations };
}

async function runOnce(tools: Tools, options: ExploreOptions, of: readonly string[]): Promise<Explored> {
  const { url, examples, seed } = options;
  const { key } = await signUp(url);
  const args = [
    ...["-m", "schemathesis.cli"],
    ...["--config-file", join(FAULTS, "schemathesis.toml"), "run", `${url}/openapi.json`],
    ...["-H", `Authorization: Bearer ${key}`, "--checks", "all", ...of, "--continue-on-failure"],
    ...["--max-examples", String(examples), "--seed", String(seed), "--no-color"],
  ];
  const { code, output } = await run(tools.python, args, {
    timeoutMs: TIMEOUT_MS,
    // It keeps what it found, and its database of examples, in the folder that it runs in.
    cwd: newDataDir(),
    env: { PYTHONPATH: FAULTS, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const cases = Number(/([\d,]+) generated/.exec(output)?.[1]?.replaceAll(",", "") ?? 0);
  const operations = Number(/Tested: (\d+)/.exec(output)?.[1] ?? 0);
  if (code !== 0 || cases === 0 || operations === 0) throw new Error(findingsOf(output));
  return { cases, operations };
}

/** What it found, and without that all it said: it may not have begun. */
function findingsOf(output: string): string {
  const start = output.search(/^=+ (FAILURES|ERRORS) =+$/m);
  return start === -1 ? output.slice(-4_000) : output.slice(start, start + 8_000);
}
