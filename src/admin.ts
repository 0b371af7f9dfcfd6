#!/usr/bin/env node
import { parseArgs } from "node:util";
import { signUp } from "./accounts/sign-up.js";
import { openStorage, openVectors } from "./compose.js";
import { type Config, ConfigError, loadConfig } from "./config.js";
import { MemoryError } from "./errors.js";
import { verify } from "./memory/verify.js";
import { compactLocal } from "./storage/local/compact.js";

const USAGE = `usage: npm run -s admin -- COMMAND

  create-account [--email NAME@HOST]  makes an account, also where SIGNUP=closed; its key goes to
                                      stdout, this once
  verify                              reads every entry and snapshot: numbers are dense, memories
                                      whole, and of what was forgotten nothing is left
  compact                             rewrites the embedded database without free space, and so
                                      without what erased memories left there

They work on the database that the settings name (MONGODB_URI, else DATA_DIR). The embedded database
has one owner at a time: stop the server first.`;

type Command = (config: Config, options: { email: string }) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  "create-account": createAccount,
  verify: verifyDatabase,
  compact,
};

/** The operator's commands, on the database itself: who may run this needs no key. */
async function main(): Promise<void> {
  const asked = readArguments(process.argv.slice(2));
  if (asked === undefined) return fail([USAGE]);
  await asked.command(loadConfig(process.env), { email: asked.email });
}

/** Undefined when the line is not understood. */
function readArguments(args: string[]): { command: Command; email: string } | undefined {
  try {
    const options = { email: { type: "string", default: "" } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const command = COMMANDS[positionals.join(" ")];
    return command && { command, email: values.email };
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
    const model = await storage.facts.pinnedModel();
    const dimensions = model?.dimensions;
    const vectors = openVectors(config, dimensions ?? 0);
    const { log, erasures } = storage;
    const found = await verify({ log, erasures, vectors, dimensions });
    console.log(
      `${found.incarnations} logs, ${found.memories} memories, ${found.erased} erased, ${found.snapshots} snapshots`,
    );
    if (found.problems.length > 0) fail(found.problems);
    console.log("all is well");
  } finally {
    await storage.close();
  }
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
