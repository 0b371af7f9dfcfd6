import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const run = promisify(execFile);

const MODULE = "connectrpc.com/conformance";
const VERSION = "v1.0.5";
const ROOT = join(import.meta.dirname, "../..");
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "recalld");
const TOOLS = join(CACHE, `conformance-${VERSION}`);
const PROGRAM = join(TOOLS, "connectconformance");
const DESCRIPTORS = join(TOOLS, "descriptors.binpb");
const CALLS_AT_A_TIME = "8";
const TIMEOUT_MS = 240_000;

/** Reason why the suite cannot run here; empty if it can. */
export const reasonToSkip =
  existsSync(TOOLS) || spawnSync("go", ["version"]).status === 0
    ? ""
    : " (skipped: no Go to build connectconformance)";
if (reasonToSkip && process.env.REQUIRE_CONFORMANCE)
  throw new Error(`REQUIRE_CONFORMANCE is set:${reasonToSkip}`);

/** Builds the suite's program, unless an earlier run did, and returns its messages. */
export async function openSuite(): Promise<FileRegistry> {
  if (!existsSync(TOOLS)) await build();
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(DESCRIPTORS)));
}

async function build(): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(CACHE, "new-"));
  try {
    const goEnv = { GOBIN: scratch, GOFLAGS: "", CGO_ENABLED: "0", GOGC: "400" };
    const options = { cwd: scratch, env: { ...process.env, ...goEnv } };
    // Built as FerretDB is by scripts/ferretdb.sh, so that Go's own packages are compiled once for both.
    const flags = ["-gcflags=all=-l -dwarf=false", "-ldflags=-s -w"];
    await run("go", ["install", ...flags, `${MODULE}/cmd/connectconformance@${VERSION}`], options);
    const { stdout } = await run("go", ["mod", "download", "-json", `${MODULE}@${VERSION}`], options);
    const protos = join(JSON.parse(stdout).Dir, "proto");
    const buf = join(ROOT, "node_modules/.bin/buf");
    await run(buf, ["build", protos, "--output", join(scratch, "descriptors.binpb")]);
    // Moved whole, so that a run that is cut off leaves nothing half made.
    renameSync(scratch, TOOLS);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Outcome of a run: the number of cases, and what failed, by the name of the case. */
export interface Outcome {
  readonly cases: number;
  readonly failures: ReadonlyMap<string, string>;
}

/** Runs the cases of `conf.yaml`, or some of them, one after the other, against servers. */
export async function runSuite(
  ports: readonly [number, number],
  some: readonly string[] = [],
): Promise<Outcome> {
  const alone = some.length > 0;
  const command = [process.execPath, join(import.meta.dirname, "hand-over.js"), ...ports.map(String)];
  const folder = mkdtempSync(join(TOOLS, "run-"));
  try {
    writeFileSync(join(folder, "cases"), some.join("\n"));
    const which = alone ? ["--run", `@${join(folder, "cases")}`] : [];
    const options = ["--mode", "server", "--conf", join(import.meta.dirname, "conf.yaml"), ...which];
    const parallel = ["--max-servers", "2", "--parallel", alone ? "1" : CALLS_AT_A_TIME];
    const { stdout, stderr } = await run(PROGRAM, [...options, ...parallel, "--", ...command], {
      timeout: TIMEOUT_MS,
      maxBuffer: 64_000_000,
    }).catch((error) => error as { stdout: string; stderr: string });
    return read(stdout, stderr);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads `FAILED: NAME:`, a reason in indented lines for each, and the counts at the end. */
function read(stdout: string, stderr: string): Outcome {
  const cases = Number(/^Total cases: (\d+)$/m.exec(stdout)?.[1]);
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(stdout) ?? [];
  const found = stdout.matchAll(/^FAILED: (.+):\n((?:[ \t].*\n)+)/gm);
  const failures = new Map([...found].map(([, name = "", reason = ""]) => [name, reason.trim()]));
  if (!(cases > 0) || Number(passed) + Number(failed) !== cases || failures.size !== Number(failed)) {
    throw new Error(
      `connectconformance did not run to its end:\n${stdout.slice(-2000)}\n${stderr.slice(-2000)}`,
    );
  }
  return { cases, failures };
}
