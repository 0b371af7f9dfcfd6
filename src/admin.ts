#!/usr/bin/env node
import { parseArgs } from "node:util";
import { signUp } from "./accounts/sign-up.js";
import { openFacts, openStorage, openVectors } from "./compose.js";
import { type Config, ConfigError, loadConfig } from "./config.js";
import { MemoryError } from "./errors.js";
import { abandon, begin, describe, follow } from "./memory/change-model.js";
import { editionOf } from "./memory/edition.js";
import type { Facts } from "./memory/plan.js";
import { verify } from "./memory/verify.js";
import { compactLocal } from "./storage/local/compact.js";

const USAGE = `usage: npm run -s admin -- COMMAND

  create-account [--email NAME@HOST]  makes an account, also where SIGNUP=closed; its key goes to
                                      stdout, this once
  verify                              reads every entry and snapshot: numbers are dense, memories
                                      whole, and of what was forgotten nothing is left
  compact                             rewrites the embedded database without free space, and so
                                      without what erased memories left there

  reembed MODEL [--at-once]           changes the database's model while services use it: they make the
                                      new vectors beside the old ones, then switch; shows how far it
                                      is. Stopping this command stops nothing. --at-once: the present
                                      model is gone, namespaces are read anew when they are used
  reembed --status | --abandon        says how far it is; gives it up

They work on the database that the settings name (MONGODB_URI, else DATA_DIR). The embedded database
has one owner at a time: stop the server first, but not for reembed.`;

const OPTIONS = {
  email: { type: "string", default: "" },
  status: { type: "boolean", default: false },
  abandon: { type: "boolean", default: false },
  "at-once": { type: "boolean", default: false },
} as const;

interface Options {
  readonly email: string;
  readonly status: boolean;
  readonly abandon: boolean;
  readonly "at-once": boolean;
  /** What `reembed` is told. */
  readonly model: string | undefined;
}

type Command = (config: Config, options: Options) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  "create-account": createAccount,
  verify: verifyDatabase,
  compact,
  reembed,
};

/** The operator's commands, on the database itself: who may run this needs no key. */
async function main(): Promise<void> {
  const asked = readArguments(process.argv.slice(2));
  if (asked === undefined) return fail([USAGE]);
  await asked.command(loadConfig(process.env), asked.options);
}

/** Undefined when the line is not understood. */
function readArguments(args: string[]): { command: Command; options: Options } | undefined {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [name = "", model, ...more] = positionals;
    const command = COMMANDS[name];
    if (command === undefined || more.length > 0 || (model !== undefined && name !== "reembed"))
      return undefined;
    return { command, options: { ...values, model } };
  } catch {
    return undefined;
  }
}

async function createAccount(config: Config, { email }: { email: string }): Promise<void> {
  const storage = await openStorage(config);
  try {
    const { accounts } = storage;
    const made = await signUp({ accounts, signUp: "open", freeCalls: config.freeCalls }, { email });
    const { id, plan, callsLimit } = made.account;
    // The key alone on stdout, so that a script can take it.
    console.error(`account ${id}, plan ${plan}, ${callsLimit} calls; its key, this once:`);
    console.log(made.key);
  } finally {
    await storage.close();
  }
}

async function verifyDatabase(config: Config): Promise<void> {
  const storage = await openStorage(config);
  try {
    const dimensionsOf = await dimensionsIn(storage.facts);
    const vectors = openVectors(config, dimensionsOf);
    const { log, erasures } = storage;
    const found = await verify({ log, erasures, vectors, dimensionsOf });
    console.log(
      `${found.incarnations} logs, ${found.memories} memories, ${found.erased} erased, ${found.snapshots} snapshots`,
    );
    if (found.problems.length > 0) fail(found.problems);
    console.log("all is well");
  } finally {
    await storage.close();
  }
}

/** By edition: the model that the database has, and the one that it is getting. */
async function dimensionsIn(facts: Facts): Promise<(incarnation: string) => number | undefined> {
  const models = [await facts.pinned(), (await facts.plan())?.plan];
  const dimensions = new Map(models.map((each) => [each?.edition, each?.model?.dimensions]));
  return (incarnation) => dimensions.get(editionOf(incarnation));
}

async function reembed(
  config: Config,
  { model, status, abandon: giveUp, "at-once": atOnce }: Options,
): Promise<void> {
  if ([model !== undefined, status, giveUp].filter(Boolean).length !== 1) fail([USAGE]);
  const { facts, close } = await openFacts(config);
  try {
    if (status) return console.log(await statusOf(facts));
    const edition =
      model === undefined ? await abandon(facts) : await begin(facts, { modelId: model, atOnce });
    const changed = await follow(facts, { edition, show: progressLine(process.stderr) });
    const holds = (await facts.pinned())?.model.id;
    console.log(`the database holds vectors of ${holds}${changed ? `; set MODEL=${holds} from now on` : ""}`);
    if (changed === giveUp) process.exitCode = 1;
  } finally {
    await close();
  }
}

async function statusOf(facts: Facts): Promise<string> {
  const standing = await facts.plan();
  if (standing !== undefined) return describe(standing.plan);
  const pinned = await facts.pinned();
  return pinned
    ? `nothing under way; the database holds vectors of ${pinned.model.id}`
    : "the database is empty";
}

/** One line that is written over on a terminal; elsewhere a line whenever it changes. */
function progressLine(stream: NodeJS.WriteStream): (line: string) => void {
  let shown = "";
  return (line) => {
    if (line === shown) return;
    shown = line;
    stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
  };
}

async function compact({ mongodbUri, dataDir }: Config): Promise<void> {
  if (mongodbUri !== undefined) fail(["recalld: MongoDB has a command of its own for this: `compact`"]);
  const { before, after } = await compactLocal({ dataDir });
  console.log(`${before.toLocaleString("en-US")} bytes before, ${after.toLocaleString("en-US")} after`);
}

function fail(lines: readonly unknown[]): never {
  for (const line of lines) console.error(line);
  process.exit(1);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) fail(error.problems.map((problem) => `recalld: ${problem}`));
  fail(error instanceof MemoryError ? [`recalld: ${error.message}`] : ["recalld:", error]);
});
