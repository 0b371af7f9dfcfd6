#!/usr/bin/env node
import { endWithReader } from "./admin/command-line.js";
import { adminCommands, EXIT, exitCodeOf } from "./admin/commands.js";
import type { Given } from "./admin/operations.js";
import { printable, show } from "./admin/show.js";
import { openAdminClient } from "./compose/admin-client.js";
import { modelOf } from "./compose/models.js";
import { openIndexFiles, openStorage } from "./compose/storage.js";
import { type Config, ConfigError, linesOnFailure, loadConfig } from "./config/config.js";
import { openEmbedder } from "./embedding/open.js";
import { count, counted, failedPrecondition, memoriesOf } from "./errors.js";
import { type Verified, verify } from "./memory/log/verify.js";
import { Pins } from "./memory/models/pin.js";
import type { ModelIdentity } from "./memory/ports/embedder.js";
import type { ModelVersion } from "./memory/ports/model-version.js";
import { follow, linesOf, type ModelStatus } from "./memory/reembedding/change-model.js";
import { ProgressLine } from "./progress.js";
import { backUp } from "./storage/local/backup/back-up.js";
import { compactLocal } from "./storage/local/backup/compact.js";
import { restore } from "./storage/local/backup/restore.js";

/** A command's answer, for people and for programs. */
interface Said {
  readonly lines: readonly string[];
  readonly json: unknown;
  /** A new key, shown alone on stdout, this once. */
  readonly secret?: string;
  /** Findings that make the command end with exit code 1. */
  readonly problems?: readonly string[];
}

type Run = (config: Config, given: Given) => Promise<Said>;

/** Commands that work on the database as a whole; all others are in src/admin/operations.ts. */
const RUNS: Readonly<Record<string, Run>> = {
  verify: verifyDatabase,
  compact,
  backup: takeBackup,
  restore: restoreBackup,
  reembed,
};

/** Runs the operator's commands on the database itself, so no key is needed. */
const program = adminCommands(async ({ operation, given }, { json }) => {
  const run = RUNS[operation] ?? operateBy(operation);
  const said = await run(loadConfig(process.env), given);
  if (json) console.log(JSON.stringify(said.json, null, 2));
  else {
    // A secret stands alone on stdout, so that a script can take it.
    for (const line of said.lines) (said.secret === undefined ? console.log : console.error)(line);
    if (said.secret !== undefined) console.log(said.secret);
  }
  if (said.problems !== undefined && said.problems.length > 0) fail(EXIT.refused, json ? [] : said.problems);
});

/** Runs a command on accounts, keys or usage where the database is open. */
function operateBy(operation: string): Run {
  return async (config, given) => {
    if (operation === "accounts close" && given.force !== true) {
      throw failedPrecondition(
        `all of account ${given.account} would be erased, and nothing brings it back; set --force to do it`,
      );
    }
    const adminClient = await openAdminClient(config, { creates: operation === "accounts create" });
    try {
      const answer = await adminClient.ask({ operation, given });
      const { api_key: secret, ...rest } = answer as { api_key?: string };
      if (secret === undefined) return { lines: [show(answer)], json: answer };
      return { lines: [show(rest)], json: answer, secret };
    } finally {
      await adminClient.close();
    }
  };
}

async function verifyDatabase(config: Config): Promise<Said> {
  const { logIds, problems, ...counts } = await readBack(config);
  const { memories, erased, indexes, unusable, unfinished } = counts;
  const lines = [
    [
      counted(logIds, "log"),
      memoriesOf(memories),
      `${count(erased)} erased`,
      `${counted(indexes, "index", "indexes")} in files`,
    ].join(", "),
  ];
  if (unusable > 0)
    lines.push(`${unusable} index files are damaged or outdated; the next use builds them anew`);
  if (unfinished > 0) lines.push(`${unfinished} erasures or moves are not finished; the next start does it`);
  if (problems.length === 0) lines.push("all is well");
  return { lines, json: { logs: logIds, ...counts, problems }, problems };
}

async function readBack(config: Config): Promise<Verified> {
  const storage = await openStorage(config, { creates: false });
  try {
    const pins = new Pins(await storage.systemRecords.models());
    const dimensionsOf = (logId: string) => pins.dimensionsOf(logId);
    const { indexes, closeThreads } = openIndexFiles(config, { dimensionsOf, onTrouble: () => {} });
    return await verify({ ...storage, indexes, dimensionsOf }).finally(closeThreads);
  } finally {
    await storage.close();
  }
}

async function takeBackup(config: Config, given: Given): Promise<Said> {
  const folder = String(given.folder);
  const adminClient = await openAdminClient(config, { creates: false });
  try {
    const manifest = await backUp({
      folder,
      copy: async (path) => void (await adminClient.ask({ operation: "backup", given: { path } })),
    });
    const { memories, accounts } = manifest.counts;
    const holds = `${memoriesOf(memories)} of ${counted(accounts, "account")}, ${count(manifest.file.bytes)} bytes`;
    return { lines: [`${folder}: ${holds}`], json: manifest };
  } finally {
    await adminClient.close();
  }
}

async function restoreBackup(config: Config, given: Given): Promise<Said> {
  const { mongodbUri, dataDir } = config;
  if (mongodbUri !== undefined) refuse("MONGODB_URI is set: a backup is of the embedded database");
  const { problems, ...manifest } = await restore({
    backup: String(given.backup),
    dataDir,
    verify: async (draft) => (await readBack({ ...config, dataDir: draft })).problems,
  });
  const lines = [`${dataDir} has ${memoriesOf(manifest.counts.memories)}, as of ${manifest.begun_at}`];
  if (problems.length === 0) lines.push("all was read back, and is well");
  else lines.push("the backup is as it was written; the database that it was taken of had this already:");
  return { lines, json: { ...manifest, problems }, problems };
}

async function reembed(config: Config, { model, status, abandon: givesUp }: Given): Promise<Said> {
  if ([model !== undefined, status === true, givesUp === true].filter(Boolean).length !== 1) {
    refuse("say either MODEL, --status or --abandon");
  }
  const adminClient = await openAdminClient(config, { creates: false });
  const readStatus = async () =>
    (await adminClient.ask({ operation: "reembed status", given: {} })) as ModelStatus;
  const progress = new ProgressLine(process.stderr);
  try {
    const before = await readStatus();
    if (status === true) return { lines: linesOf(before), json: before };
    if (before.pinned === undefined) refuse("the database holds nothing yet: MODEL chooses its first model");
    const request =
      model === undefined
        ? { operation: "reembed abandon", given: {} }
        : { operation: "reembed pin", given: { model: await identityOf(config, String(model)) } };
    const { modelVersion } = (await adminClient.ask(request)) as { modelVersion: ModelVersion };
    const after = await follow(readStatus, { modelVersion, show: (line) => progress.show(line) });
    progress.end();
    const changed = after.pinned?.modelVersion === modelVersion;
    return {
      lines: [...linesOf(after), `set MODEL=${after.pinned?.model.id} from now on`],
      json: after,
      ...(!changed && { problems: ["it was not done: the database was pinned to another model meanwhile"] }),
    };
  } finally {
    await adminClient.close();
  }
}

/** Loads a model, downloading it first if need be, so that only one that can be read is pinned. */
async function identityOf(config: Config, model: string): Promise<ModelIdentity> {
  const embedder = await openEmbedder({ ...modelOf(config, model), workers: 1 });
  await embedder.close();
  return embedder.model;
}

async function compact(config: Config): Promise<Said> {
  const { mongodbUri, dataDir } = config;
  if (mongodbUri !== undefined) refuse("MongoDB has a command of its own for this: `compact`");
  // Opening refuses a database that does not exist, or is of another format.
  await (await openStorage(config, { creates: false })).close();
  const { before, after } = await compactLocal(dataDir);
  const lines = [`${count(before)} bytes before, ${count(after)} after`];
  return { lines, json: { bytes_before: before, bytes_after: after } };
}

function refuse(message: string): never {
  throw failedPrecondition(message);
}

function fail(code: number, lines: readonly unknown[]): never {
  for (const line of lines) console.error(printable(line));
  process.exit(code);
}

endWithReader();
program.parseAsync().catch((error: unknown) => {
  const code = error instanceof ConfigError ? EXIT.notUnderstood : exitCodeOf(error);
  fail(code, linesOnFailure("recalld-admin", error));
});
