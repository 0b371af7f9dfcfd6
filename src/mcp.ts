#!/usr/bin/env node
import { Console } from "node:console";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "commander";
import { EXIT } from "./cli/exit.js";
import { failureOf } from "./cli/failure.js";
import { hasLogin, serverOf } from "./cli/profile.js";
import type { Service } from "./compose.js";
import { unavailable } from "./errors.js";
import { sharing } from "./mcp/embedded.js";
import { keyIn } from "./mcp/key-file.js";
import type { FindPlace } from "./mcp/place.js";
import { Remote } from "./mcp/remote.js";
import { importOnce } from "./mcp/server-memory.js";
import { serveOnStdio } from "./mcp/stdio.js";
import { commandLine } from "./operator/command-line.js";
import { flushLog, openLog } from "./server/logging.js";
import { askOwner } from "./storage/local/owner/owner.js";

const HELP = `
The server is named by --url, RECALLD_URL or the profile that \`recalld signup\` writes; the key by
RECALLD_API_KEY or the profile. Without any of them, the memories are in a folder of this machine (DATA_DIR;
when left out, recalld below the user's data), and all sessions that name none share it.`;

/** Time in which a server must say that it lives. */
const ANSWER_TIMEOUT_MS = 2_000;
/** Time in which the process that has a folder must say where it serves. */
const OWNER_TIMEOUT_MS = 10_000;

// The standard output belongs to the protocol: what a library prints would break it.
globalThis.console = new Console(process.stderr, process.stderr);

interface Options {
  readonly url?: string;
  readonly namespace?: string;
  readonly compat?: "server-memory";
  readonly memoryFile?: string;
}

const stopping = new AbortController();
let service: Promise<Service> | undefined;

commandLine({ name: "recalld mcp", exitCode: EXIT.notUnderstood })
  .description("serves the Model Context Protocol on the standard input and output")
  .option("--url <URL>", "address of the server")
  .option("-n, --namespace <NAME>", "the namespace of all calls (RECALLD_NAMESPACE)")
  .addOption(
    new Option("--compat <PROGRAM>", "the tools of another program, over these memories").choices([
      "server-memory",
    ]),
  )
  .option(
    "--memory-file <PATH>",
    "memory.jsonl to import at the first start (MEMORY_FILE_PATH); with --compat",
  )
  .addHelpText("after", HELP)
  .action(serve)
  .parseAsync()
  .catch(fail);

async function serve(options: Options): Promise<void> {
  const namespace = options.namespace ?? process.env.RECALLD_NAMESPACE;
  const query = new URLSearchParams();
  if (namespace !== undefined) query.set("namespace", namespace);
  if (options.compat !== undefined) query.set("tools", "graph");
  const remote = new Remote({ find: finding(options), query: query.size === 0 ? "" : `?${query}` });
  const { logger } = openLog(process.env.LOG_LEVEL || "warn");
  const imported = importGraph({ ...options, ...(namespace !== undefined && { namespace }) }, remote);
  const whole: Pick<Remote, "ask"> = {
    ask: async (...asked) => {
      await imported;
      return remote.ask(...asked);
    },
  };
  void serveOnStdio(whole, (error) => logger.debug({ err: error }, "mcp")).then(() => end());
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void end());
  // The first call need not wait for the start, if the client is slow enough.
  const ping = remote.ask("ping", {}, stopping.signal);
  const [{ result, message }] = await Promise.all([ping, imported]);
  if (result === undefined) logger.warn({ message }, "no server yet");
}

/** Imports the knowledge graph of the program whose tools are wanted, if it is not done yet. */
async function importGraph({ compat, memoryFile, url, namespace }: Options, remote: Remote): Promise<void> {
  const { env } = process;
  const path = memoryFile ?? env.MEMORY_FILE_PATH;
  if (compat === undefined || path === undefined) return;
  const notesDir = join(dataFolder(env), "imported-graphs");
  const place = JSON.stringify([url ?? env.RECALLD_URL, namespace]);
  const count = await importOnce({ remote, path, notesDir, place, signal: stopping.signal });
  if (count > 0) console.error(`imported ${count} entities and relations of ${path}`);
}

/** Returns the folder for what is kept on this machine. */
function dataFolder(env: NodeJS.ProcessEnv): string {
  return env.DATA_DIR || join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "recalld");
}

/** Chooses the server: the one that is named, or one of this machine that all sessions share. */
function finding({ url }: Options): FindPlace {
  const { env } = process;
  const isNamed = [url, env.RECALLD_URL, env.RECALLD_API_KEY].some(Boolean) || hasLogin(env);
  if (isNamed) {
    const { key, url: at } = serverOf({ ...(url !== undefined && { url }) }, env);
    return async () => ({ url: at, key });
  }
  const dataDir = dataFolder(env);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return sharing({
    addressOfOwner: async () => (await ownerSays(dataDir, "address"))?.address,
    serveHere: () => serveFolder(dataDir),
    answers: async (address) =>
      fetch(`${address}/livez`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) }).then(
        ({ ok }) => ok,
        () => false,
      ),
    key: () => {
      const make = async () => String((await ownerSays(dataDir, "accounts create"))?.api_key);
      return keyIn(join(dataDir, "mcp-key"), make);
    },
  });
}

async function ownerSays(dataDir: string, operation: string): Promise<Record<string, string> | undefined> {
  const late = sleep(OWNER_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw unavailable("the process that has the folder does not answer");
  });
  const answered = await Promise.race([askOwner(dataDir, { operation, given: {} }), late]);
  return answered?.result as Record<string, string> | undefined;
}

/** Opens the folder here, for this session and for those that find it. Nobody else can sign up there. */
async function serveFolder(dataDir: string): Promise<string> {
  const { env } = process;
  // Most sessions find a server: they need not load one.
  const [{ openService }, { loadConfig }, { FREE, Plans, UNLIMITED_CALLS }] = await Promise.all([
    import("./compose.js"),
    import("./config/config.js"),
    import("./accounts/plan.js"),
  ]);
  const alone = { MONGODB_URI: "", TLS_CERT: "", TLS_KEY: "", METRICS_PORT: "" };
  const local = { ...alone, PORT: "0", HOST: "127.0.0.1", SIGNUP: "closed", DRAIN_NOTICE_MS: "0" };
  const lean = { EMBED_WORKERS: env.EMBED_WORKERS || "1", LOG_LEVEL: env.LOG_LEVEL || "warn" };
  const config = loadConfig({ ...env, ...lean, ...local, DATA_DIR: dataDir });
  const { logger, dropped: droppedLines } = openLog(config.logLevel);
  const plan = { name: FREE, calls: UNLIMITED_CALLS, rate: undefined, concurrency: undefined };
  // The owner of this machine pays for nothing.
  const plans = new Plans([plan]);
  const onTooNew = (error: unknown) => void fail(error);
  const common = { logger, droppedLines, stopping: stopping.signal, onTooNew, plans };
  service = openService(config, common);
  return (await service).address;
}

let ending: Promise<void> | undefined;

/** Ends when the client does: calls that others have here are finished first. */
function end(exitCode = 0): Promise<void> {
  ending ??= (async () => {
    stopping.abort();
    const opened = await service?.catch(() => undefined);
    await opened?.close({ noticeMs: 0, hastened: new AbortController().signal });
    await flushLog();
    process.exit(exitCode);
  })().catch(() => process.exit(EXIT.failed));
  return ending;
}

async function fail(error: unknown): Promise<void> {
  if (stopping.signal.aborted) return;
  const { exitCode, lines } = failureOf(error);
  for (const line of lines) console.error(line);
  await end(exitCode ?? EXIT.failed);
}
