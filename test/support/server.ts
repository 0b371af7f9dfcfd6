import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program } from "./program.js";

const MAIN = program("main");
/** Settings without a balancer: the notice is enough for calls that are on their way. */
const QUICK = { DRAIN_NOTICE_MS: "100" };
/** Limits for tests, which sign up often from one address and call as fast as they can. */
const UNLIMITED = { SIGNUPS_PER_HOUR: "10000000", SIGNUPS_PER_HOUR_TOTAL: "10000000" };
const START_TIMEOUT_MS = 30_000;
/**
 * Time before a kill -9 of which the embedded database may undo charges of recalls: the most that it promises.
 * It is a few milliseconds while its disk is well.
 */
export const LOCAL_CHARGES_LAG_MS = 100;

/**
 * Resources that must not outlive the tests. All share one listener, because Node warns of a leak at eleven.
 */
const leftovers = { children: new Set<ChildProcess>(), dirs: new Set<string>() };
function removeLeftovers(): void {
  for (const child of leftovers.children) child.kill("SIGKILL");
  for (const dir of leftovers.dirs) rmSync(dir, { recursive: true, force: true });
}
process.once("exit", removeLeftovers);
// Vitest ends its workers with this.
process.once("SIGTERM", () => {
  removeLeftovers();
  process.kill(process.pid, "SIGTERM");
});

/** The real program in its own process, on a free port. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly dataDir: string;
  readonly pid: number;
  /** Address of `/metrics` when `METRICS_PORT` is set. */
  readonly metricsUrl: string;
  /** Returns its output so far. */
  readonly output: () => string;
  /** Sends SIGTERM at each call, and resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Resolves with the exit code once it has ended. */
  exited(): Promise<number | null>;
  /** Kills it with kill -9. */
  kill(): Promise<void>;
}

export interface ServerOptions {
  /** Folder that is kept between starts; if left out, a new one that is removed at the end of the process. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Path of main.js; if left out, that of what was compiled, in files or as a bundle. */
  readonly main?: string;
  /** Condition to wait for; if left out, readiness. */
  readonly until?: keyof typeof SAID;
}

/** Lines of its output, with its port. */
const SAID = {
  ready: /address +https?:\/\/[^:]+:(\d+)/,
  listening: /listening at https?:\/\/[^:]+:(\d+)/,
};

export async function startServer({
  dataDir = newDataDir(),
  env = {},
  main = MAIN,
  until = "ready",
}: ServerOptions = {}): Promise<TestServer> {
  const child = runMain(
    { DATA_DIR: dataDir, PORT: "0", EMBED_WORKERS: "1", ...UNLIMITED, ...QUICK, ...unhurried(env) },
    main,
  );
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const { port, output } = await listening(child, { exited, said: SAID[until] });
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    url: `${env.TLS_CERT === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    dataDir,
    pid: child.pid as number,
    get metricsUrl() {
      return /metrics +(http:\S+)/.exec(output())?.[1] ?? "";
    },
    output,
    stop: () => stop("SIGTERM"),
    exited: () => exited,
    kill: async () => void (await stop("SIGKILL")),
  };
}

let shared: Promise<TestServer> | undefined;

/** Calls of a plan that no test comes to the end of. */
export const MANY_CALLS = 1_000_000;

/**
 * The server that all test files of a worker share: it has the default settings and many calls, and lives as long as
 * the worker. It is for tests that have accounts of their own, and neither stop it nor keep it busy.
 */
export function sharedServer(): Promise<TestServer> {
  shared ??= startServer({ env: { FREE_CALLS: String(MANY_CALLS) } });
  return shared;
}

/** Runs the program until it exits by itself, as it does when it cannot start. */
export async function runUntilExit(
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const child = runMain(env);
  let output = "";
  child.stdout?.on("data", (chunk) => (output += chunk));
  child.stderr?.on("data", (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output };
}

/**
 * Adds settings under which a key may call without limits, unless they already set plans: the built-in plan
 * is for people.
 */
export function unhurried(env: Readonly<Record<string, string>>): Record<string, string> {
  const { FREE_CALLS = "1000", ...others } = env;
  if (env.PLANS_FILE !== undefined) return env;
  const file = join(newDataDir(), "plans.json");
  writeFileSync(file, JSON.stringify({ free: { calls: Number(FREE_CALLS) } }));
  return { ...others, PLANS_FILE: file };
}

export function newDataDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "recalld-test-"));
  leftovers.dirs.add(dir);
  return dir;
}

function runMain(env: Readonly<Record<string, string>>, main = MAIN): ChildProcess {
  // The tester's environment gives only the path of programs. Settings come from `env` alone.
  const child = spawn(process.execPath, [main], { env: { PATH: process.env.PATH ?? "", ...env } });
  leftovers.children.add(child);
  child.once("exit", () => leftovers.children.delete(child));
  return child;
}

async function listening(
  child: ChildProcess,
  { exited, said }: { exited: Promise<number | null>; said: RegExp },
) {
  let text = "";
  const output = () => text;
  const port = new Promise<number>((resolve) => {
    let found: string | undefined;
    const onData = (chunk: Buffer) => {
      text += chunk;
      // It stops searching once it is found, because a log grows and measurements share this process.
      found ??= said.exec(text)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout?.on("data", onData);
    child.stderr?.on("data", onData);
  });
  const ended = exited.then((code) => {
    throw new Error(`the server ended with ${code} before it listened:\n${text}`);
  });
  const late = new Promise<never>((_, reject) =>
    setTimeout(
      () => reject(new Error(`the server did not listen in time:\n${text}`)),
      START_TIMEOUT_MS,
    ).unref(),
  );
  return { port: await Promise.race([port, ended, late]), output };
}
