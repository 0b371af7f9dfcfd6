import type { Command } from "commander";
import { isUnavailable, MemoryError } from "../errors.js";
import { commandLine, commandsOf, givenTo, nameOf, wholeNumber } from "./command-line.js";
import type { Request } from "./operations.js";

/** Exit codes of `recalld-admin`; docs/operations.md has the same table. */
export const EXIT = { done: 0, refused: 1, notUnderstood: 2, unavailable: 3 } as const;

export type Run = (request: Request, output: { readonly json: boolean }) => Promise<void>;

const KEY_ON_STDOUT = "\nThe key alone goes to stdout, this once. All else goes to stderr.";

/** Declares the commands of `recalld-admin`; `run` does the one that was typed. */
export function adminCommands(run: Run): Command {
  const program = commandLine({ name: "recalld-admin", exitCode: EXIT.notUnderstood }).addHelpText(
    "after",
    "\nThey work on the database that the settings name (MONGODB_URI, else DATA_DIR).\n" +
      "`COMMAND --help` tells more about one.",
  );
  addAccounts(program.command("accounts"));
  addPlans(program.command("plans"));
  addKeys(program.command("keys"));
  program
    .command("usage <ACCOUNT>")
    .description("shows what an account used, day by day")
    .option("--days <NUMBER>", "number of days including today, 1 to 90; 30 when left out", wholeNumber);
  addIndex(program.command("index"));
  addDatabase(program);
  for (const command of commandsOf(program)) {
    command.option("--json", "prints the answer as JSON").action(() => {
      const { json, ...given } = givenTo(command);
      return run({ operation: nameOf(command), given }, { json: json === true });
    });
  }
  return program;
}

function addAccounts(accounts: Command): void {
  accounts
    .command("list")
    .description("lists accounts, the oldest first")
    .option("--limit <NUMBER>", "maximum number of accounts, 1 to 1,000; 100 when left out", wholeNumber)
    .option("--after <TEXT>", "id of the account after which the list begins");
  accounts.command("show <ACCOUNT>").description("shows an account and what it used");
  accounts
    .command("create")
    .description("makes an account, also where SIGNUP=closed")
    .option("--email <TEXT>", "address of the form name@host; nothing is sent to it")
    .addHelpText("after", KEY_ON_STDOUT);
  accounts
    .command("close <ACCOUNT>")
    .description("erases an account: its memories, its usage and its keys")
    .option("--force", "confirms it, which is required: nothing brings the account back");
}

function addPlans(plans: Command): void {
  plans
    .command("list")
    .description("lists the plans there are")
    .addHelpText("after", "\nPLANS_FILE defines them. What is not limited is shown as -.");
  plans
    .command("set <ACCOUNT> <PLAN>")
    .description("gives an account a plan")
    .addHelpText("after", "\nUsed calls stay used. Running servers follow within a minute.");
}

function addKeys(keys: Command): void {
  keys.command("list <ACCOUNT>").description("lists an account's keys, never a secret");
  keys
    .command("create <ACCOUNT>")
    .description("makes a key")
    .option("--name <TEXT>", "name by which its owner can tell it from others")
    .option("--read-only", "allows the key to recall and read, but not to store")
    .option("--namespace <TEXT>", "only namespace that the key may use")
    .addHelpText("after", KEY_ON_STDOUT);
  keys
    .command("revoke <ACCOUNT> <KEY>")
    .description("revokes the key with this id, on every replica at once")
    .option("--force", "revokes it even if it is the account's last one");
}

function addIndex(index: Command): void {
  index
    .command("status")
    .description("lists the indexes that have files in DATA_DIR, or are open")
    .option("--limit <NUMBER>", "maximum number of indexes, 1 to 1,000; 100 when left out", wholeNumber)
    .option("--after <TEXT>", "log of the index after which the list begins");
  index
    .command("rebuild <ACCOUNT> <NAMESPACE>")
    .description("erases the index files of a namespace, whose next use builds them from its log")
    .addHelpText(
      "after",
      "\nNo memory is lost. A namespace in use is closed when its last call ends; new calls wait for that, and the\n" +
        "first of them for the building. With replicas, only the one whose DATA_DIR this is builds its index anew.",
    );
}

function addDatabase(program: Command): void {
  program
    .command("verify")
    .description("reads every entry and every index file")
    .addHelpText(
      "after",
      "\nIt checks that numbers are dense, that memories are whole, and that nothing is left of what was\n" +
        "forgotten. The embedded database must not be in use.",
    );
  program
    .command("compact")
    .description("rewrites the embedded database without free space")
    .addHelpText("after", "\nWhat erased memories left there goes with it. The database must not be in use.");
  program
    .command("backup <FOLDER>")
    .description("takes a backup of the embedded database, also while a server uses it")
    .addHelpText("after", "\nFOLDER must not exist. The backup holds all that was answered before it began.");
  program
    .command("restore <BACKUP>")
    .description("puts a backup into DATA_DIR, which must be empty")
    .addHelpText(
      "after",
      "\nIts hash is checked, and all of it is read back before the database gets its name.",
    );
  program
    .command("reembed [MODEL]")
    .description("changes the database's model while services use it")
    .option("--status", "shows how much has vectors of which model")
    .option(
      "--abandon",
      "gives the change up: the model before is pinned again, and what has moved moves back",
    )
    .addHelpText(
      "after",
      "\nThe command loads MODEL and pins the database to it. The services that use the database then move\n" +
        "one namespace after another, and it shows how far they are; stopping it does not stop them.",
    );
}

export function exitCodeOf(error: unknown): number {
  if (isUnavailable(error)) return EXIT.unavailable;
  const isInvalid = error instanceof MemoryError && error.code === "invalid_argument";
  return isInvalid ? EXIT.notUnderstood : EXIT.refused;
}
