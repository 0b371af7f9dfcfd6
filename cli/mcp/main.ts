import { Console } from "node:console";
import { existsSync } from "node:fs";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine } from "../../src/admin/command-line.js";
import type { Service } from "../../src/compose.js";
import { isUnavailable, MemoryError, unavailable } from "../../src/errors.js";
import { makeFolder } from "../../src/make-folder.js";
import { flushLog, openLog } from "../../src/server/logging.js";
import { askOwner, FolderInUseError } from "../../src/storage/local/owner/owner.js";
import { TookTooLongError, within } from "../../src/storage/within.js";
import { EXIT, failureOf } from "../failure.js";
import { hasLogin, type Server, serverOf } from "../profile.js";
import { Remote } from "./remote.js";
import { serveOnStdio } from "./stdio.js";

const HELP = `
The server is named by --url, RECALLD_URL or the profile that \`recalld signup\` writes; the key by
RECALLD_API_KEY or the profile. Without any of them, the memories are in a folder of this machine (DATA_DIR;
when left out, recalld below the user's data), and all sessions that name none share it.`;

/** Time in which the process that has a folder must say where it serves. */
const OWNER_TIMEOUT_MS = 10_000;
/** Time in which the server of a folder must be found or started: a model may have to be loaded. */
const FIND_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

// The standard output belongs to the protocol: what a library prints would break it.
globalThis.console = new Console(process.stderr, process.stderr);

interface Options {
  readonly url?: string;
  readonly namespace?: string;
}

const stopping = new AbortController();
let service: Promise<Service> | undefined;
let log: ReturnType<typeof openLog>;

commandLine({ name: "recalld mcp", exitCode: EXIT.notUnderstood })
  .description("serves the Model Context Protocol on the standard input and output")
  .option("--url <URL>", "address of the server")
  .option("-n, --namespace <NAME>", "the namespace of all calls (RECALLD_NAMESPACE)")
  .addHelpText("after", HELP)
  .action(serve)
  .parseAsync()
  .catch(fail);

async function serve(options: Options): Promise<void> {
  const namespace = options.namespace ?? (process.env.RECALLD_NAMESPACE || undefined);
  const query = namespace === undefined ? "" : `?${new URLSearchParams({ namespace })}`;
  const remote = new Remote({ find: finding(options), query });
  log = openLog(process.env.LOG_LEVEL || "warn");
  const { logger } = log;
  void serveOnStdio(remote, (error) => logger.debug({ err: error }, "mcp")).then(() => end());
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void end());
  // The first call need not wait for the start, if the client is slow enough.
  await remote.ask("ping", {}, stopping.signal).catch(({ message }: Error) => {
    if (!stopping.signal.aborted) logger.warn({ message }, "no server yet");
  });
}

/** Chooses the server: the one that is named, or one of this machine that all sessions share. */
function finding({ url }: Options): () => Promise<Server> {
  const { env } = process;
  const isNamed = [url, env.RECALLD_URL, env.RECALLD_API_KEY].some(Boolean) || hasLogin();
  if (isNamed) {
    const server = serverOf(url === undefined ? {} : { url });
    return async () => server;
  }
  const data = env.XDG_DATA_HOME || join(homedir(), ".local", "share");
  const dataDir = env.DATA_DIR || join(data, "recalld");
  makeFolder(dataDir);
  return () => findShared(dataDir);
}

/**
 * Finds the server of a folder that several sessions share. The first session serves it; the others find it.
 * When it ends, the next one that calls serves in its place.
 */
async function findShared(dataDir: string): Promise<Server> {
  const endMs = performance.now() + FIND_TIMEOUT_MS;
  for (;;) {
    try {
      const url = (await ownerSays(dataDir, "address"))?.address ?? (await serveFolder(dataDir));
      return { url, key: await keyIn(dataDir) };
    } catch (error) {
      // Another process may only just be taking the folder, or leaving it.
      const mayPass = [FolderInUseError, TookTooLongError].some((each) => error instanceof each);
      if (!mayPass && !isUnavailable(error)) throw error;
    }
    if (performance.now() > endMs) throw new MemoryError("unavailable", "no server could be started");
    await sleep(POLL_MS);
  }
}

/**
 * Returns the key for the folder's memories, which only their owner may read; the first time, makes one. Of two
 * processes that do so at once, both get the key of the one that was first.
 */
async function keyIn(dataDir: string): Promise<string> {
  const path = join(dataDir, "mcp-key");
  for (;;) {
    if (existsSync(path)) return (await readFile(path, "utf8")).trim();
    const written = `${path}.${process.pid}`;
    const key = (await ownerSays(dataDir, "accounts create"))?.api_key;
    if (key === undefined) throw unavailable("the process that has the folder went away");
    await writeFile(written, `${key}\n`, { mode: 0o600 });
    try {
      // A link appears whole or not at all, and never in the place of another's.
      await link(written, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      await rm(written, { force: true });
    }
  }
}

async function ownerSays(dataDir: string, operation: string): Promise<Record<string, string> | undefined> {
  const answered = await within(OWNER_TIMEOUT_MS, askOwner(dataDir, { operation, given: {} }));
  return answered?.result as Record<string, string> | undefined;
}

/** Opens the folder here, for this session and for those that find it. Nobody else can sign up there. */
async function serveFolder(dataDir: string): Promise<string> {
  const { env } = process;
  // Most sessions find a server: they need not load one.
  const [{ openService }, { loadConfig }, { FREE, Plans, UNLIMITED_CALLS }] = await Promise.all([
    import("../../src/compose.js"),
    import("../../src/config/config.js"),
    import("../../src/accounts/plan.js"),
  ]);
  const alone = { MONGODB_URI: "", TLS_CERT: "", TLS_KEY: "", METRICS_PORT: "" };
  const local = { ...alone, PORT: "0", HOST: "127.0.0.1", SIGNUP: "closed", DRAIN_NOTICE_MS: "0" };
  const lean = { EMBED_WORKERS: env.EMBED_WORKERS || "1" };
  const config = loadConfig({ ...env, ...lean, ...local, DATA_DIR: dataDir });
  const plan = {
    name: FREE,
    calls: UNLIMITED_CALLS,
    rate: undefined,
    concurrency: undefined,
    accountTimes: 1,
  };
  // The owner of this machine pays for nothing.
  const plans = new Plans([plan]);
  const common = { logger: log.logger, droppedLines: log.dropped, stopping: stopping.signal, plans };
  service = openService(config, common);
  return (await service).address;
}

let ending: Promise<void> | undefined;

/** Ends when the client does: calls that others have here are finished first. */
function end(exitCode = 0): Promise<void> {
  ending ??= (async () => {
    stopping.abort();
    const opened = await service?.catch(() => undefined);
    await opened?.close({ noticeMs: 0, force: new AbortController().signal });
    await flushLog();
    process.exit(exitCode);
  })().catch(() => process.exit(EXIT.failed));
  return ending;
}

async function fail(error: unknown): Promise<void> {
  if (stopping.signal.aborted) return;
  const { exitCode, line } = failureOf(error);
  console.error(line);
  await end(exitCode);
}
