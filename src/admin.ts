#!/usr/bin/env node
import { parseArgs } from "node:util";
import { signUp } from "./accounts/sign-up.js";
import { openStorage } from "./compose.js";
import { type Config, ConfigError, loadConfig } from "./config.js";
import { MemoryError } from "./errors.js";

const USAGE = `usage: npm run -s admin -- create-account [--email NAME@HOST]

Makes an account, also where SIGNUP=closed, in the database that the settings name (MONGODB_URI, else
DATA_DIR). The key is written to stdout, this once. The embedded database has one owner at a time:
stop the server first.`;

/** The operator's commands, on the database itself: who may run this needs no key. */
async function main(): Promise<void> {
  const email = readArguments(process.argv.slice(2));
  if (email === undefined) return fail([USAGE]);
  const { account, key } = await createAccount(loadConfig(process.env), email);
  // The key alone on stdout, so that a script can take it.
  console.error(
    `account ${account.id}, plan ${account.plan}, ${account.callsLimit} calls; its key, this once:`,
  );
  console.log(key);
}

/** The email of `create-account`; empty when left out, undefined when the line is not understood. */
function readArguments(args: string[]): string | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { email: { type: "string" } },
      allowPositionals: true,
    });
    return positionals.join(" ") === "create-account" ? (values.email ?? "") : undefined;
  } catch {
    return undefined;
  }
}

async function createAccount(config: Config, email: string) {
  const storage = await openStorage(config);
  try {
    const { accounts } = storage;
    return await signUp({ accounts, signUp: "open", freeCalls: config.freeCalls }, { email });
  } finally {
    await storage.close();
  }
}

function fail(lines: readonly unknown[]): never {
  for (const line of lines) console.error(line);
  process.exit(1);
}

main().catch((error: unknown) => {
  if (error instanceof ConfigError) fail(error.problems.map((problem) => `recalld: ${problem}`));
  fail(error instanceof MemoryError ? [`recalld: ${error.message}`] : ["recalld:", error]);
});
