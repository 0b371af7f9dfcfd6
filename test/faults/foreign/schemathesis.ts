import { join } from "node:path";
import { signUp } from "../../support/caller.js";
import { newDataDir } from "../../support/server.js";
import { run, type Tools } from "./tool.js";

const FAULTS = join(import.meta.dirname, "..");
const TIMEOUT_MS = 900_000;
/** Operations that end the key, which the others need. */
const ENDING = "(^c|_C)loseAccount$|(^r|_R)evokeKey$";
/** Operation that never ends by itself, so that the tool would wait for its whole answer. */
const ENDLESS = "^watchNamespace$";

export interface Explored {
  readonly cases: number;
  readonly operations: number;
}

interface ExploreOptions {
  readonly url: string;
  /** Number of examples of each operation, in each phase. */
  readonly examples: number;
  readonly seed: number;
}

/**
 * Calls everything that `/openapi.json` describes, with right and wrong requests and all of schemathesis'
 * checks. schemathesis.toml lists findings that are intended.
 *
 * @throws Error with all other findings.
 */
export async function explore(tools: Tools, options: ExploreOptions): Promise<Explored> {
  const most = await runOnce(tools, options, ["--exclude-operation-id-regex", `${ENDING}|${ENDLESS}`]);
  const ending = await runOnce(tools, options, ["--include-operation-id-regex", ENDING]);
  return { cases: most.cases + ending.cases, operations: most.operations + ending.operations };
}

async function runOnce(tools: Tools, options: ExploreOptions, flags: readonly string[]): Promise<Explored> {
  const { url, examples, seed } = options;
  const { key } = await signUp(url);
  const args = [
    ...["-m", "schemathesis.cli"],
    ...["--config-file", join(FAULTS, "schemathesis.toml"), "run", `${url}/openapi.json`],
    ...["-H", `Authorization: Bearer ${key}`, "--checks", "all", ...flags, "--continue-on-failure"],
    ...["--max-examples", String(examples), "--seed", String(seed), "--no-color"],
  ];
  const { code, output } = await run(tools.python, args, {
    timeoutMs: TIMEOUT_MS,
    // The tool keeps its findings, and its database of examples, in its working folder.
    cwd: newDataDir(),
    env: { PYTHONPATH: FAULTS, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const cases = Number(/([\d,]+) generated/.exec(output)?.[1]?.replaceAll(",", "") ?? 0);
  const operations = Number(/Tested: (\d+)/.exec(output)?.[1] ?? 0);
  if (code !== 0 || cases === 0 || operations === 0) throw new Error(findingsOf(output));
  return { cases, operations };
}

/** Extracts the findings, or returns the whole output if there are none: the tool may not have begun. */
function findingsOf(output: string): string {
  const start = output.search(/^=+ (FAILURES|ERRORS) =+$/m);
  return start === -1 ? output.slice(-4_000) : output.slice(start, start + 8_000);
}
