import type { Command, CommandOptions } from "commander";
import { commandLine, givenTo, inOneLine, wholeNumber } from "../src/admin/command-line.js";
import { VERSION } from "../src/version.js";
import * as accounts from "./account.js";
import { EXIT } from "./failure.js";
import { FORMATS } from "./import/formats.js";
import * as memories from "./memories.js";
import { exportTo, importFrom } from "./transfer.js";
import { choiceOf, durationGiven, filterGiven, numberOf } from "./values.js";
import { watch } from "./watch.js";

const NAMESPACE_DEFAULT = "default";

const ORDERS = ["newest_first", "oldest_first", "event_time_newest_first", "event_time_oldest_first"];

const HELP = `
The server is named by --url, RECALLD_URL or the profile that \`recalld signup\` writes; the key by
RECALLD_API_KEY or the profile; the namespace by -n or RECALLD_NAMESPACE. The exit code is 0, or 1 if the
server refused or failed, 2 for a line that is not understood, 3 without a key that may do it, 4 if there is
no such memory, namespace or key, 5 at a limit of the plan, 6 if the server cannot be reached.`;

const PARTS = {
  serve: "runs the server",
  mcp: "serves an agent on the standard input and output",
  admin: "the operator's commands",
  model: "manages models",
};

const TEXT_FILE = ["--file <PATH>", "reads the text from a file; - is the standard input"] as const;

const METADATA = "-m, --metadata <KEY=VALUE>";

const FILTER = [
  "--filter <JSON>",
  'only memories that match, such as \'{"source": "mail"}\'',
  filterGiven,
] as const;

const ON_SECRET = [
  "--on-secret <ACTION>",
  "if there is a key or a card number: store, redact or refuse",
  choiceOf("--on-secret", ["store", "redact", "refuse"]),
] as const;

/** The commands for those who use a server. */
export function userCommands(): Command {
  const program = commandLine({ name: "recalld", exitCode: EXIT.notUnderstood })
    .helpOption("-h, --help", "shows this text, or that of a command")
    .version(VERSION, "--version", "prints the version")
    .addHelpText("after", HELP);
  inOneLine(program);
  program.hook("preAction", (_program, command) => void givenTo(command));
  const under =
    (parent: Command) =>
    (line: string, description: string, options: CommandOptions = {}) =>
      inOneLine(parent.command(line, options))
        .description(description)
        .option("--url <URL>", "address of the server")
        .option("--profile <NAME>", "the key of this name: another account of the same server")
        .option("--json", "prints the answer as JSON");
  const command = under(program);
  const inNamespace = (line: string, description: string) =>
    command(line, description).option(
      "-n, --namespace <NAME>",
      "the namespace (RECALLD_NAMESPACE)",
      process.env.RECALLD_NAMESPACE || NAMESPACE_DEFAULT,
    );

  command("signup", "makes an account, and writes its key into the profile")
    .option("--email <ADDRESS>", "address of the account's owner")
    .action(accounts.signUp);
  command("login", "writes a key that there is into the profile, from the standard input").action(
    accounts.logIn,
  );
  command("logout", "takes the server's key out of the profile").action(accounts.logOut);
  command("whoami", "shows the server and the account that commands use").action(accounts.whoAmI);
  inNamespace("store [TEXT...]", "stores a text, from the line, a file, or the standard input")
    .option(...TEXT_FILE)
    .option(METADATA, "metadata: a pair, or one JSON object; may be repeated", collect, [])
    .option("--external-id <ID>", "your own id for the memory")
    .option(
      "--on-conflict <ACTION>",
      "if a memory has that id already: refuse, replace or keep",
      choiceOf("--on-conflict", ["refuse", "replace", "keep"]),
    )
    .option(
      "--similar-above <SCORE>",
      "lists memories with this score for the text, 0 to 1",
      numberOf("--similar-above"),
    )
    .option(
      "--on-similar <ACTION>",
      "if there is such a memory: store, keep it, or supersede it",
      choiceOf("--on-similar", ["store", "keep", "supersede"]),
    )
    .option(...ON_SECRET)
    .option("--supersedes <ID>", "a memory that this one corrects; may be repeated", collect, [])
    .option("--ttl <DURATION>", "how long the memory lives, such as 90s, 1h or 7d", durationGiven)
    .option("--at <TIME>", "when it happened, such as 2016-03-05T09:30:00Z; else now")
    .action(memories.store);
  inNamespace("update <ID> [TEXT...]", "gives a memory another text, metadata, expiry or event time")
    .option(...TEXT_FILE)
    .option(METADATA, "metadata to set: a pair, or one JSON object; the rest stays", collect, [])
    .option("--replace-metadata", "removes the metadata that --metadata does not name")
    .option("--ttl <DURATION>", "how long it lives from now, such as 90s, 1h or 7d", durationGiven)
    .option("--expires <TIME>", "when it expires, such as 2030-01-01T00:00:00Z")
    .option("--at <TIME>", "when it happened, such as 2016-03-05T09:30:00Z")
    .option("--etag <ETAG>", "updates only this version")
    .option(...ON_SECRET)
    .action(memories.update);
  inNamespace("recall [QUERY...]", "finds the memories that fit a question best, by meaning and words")
    .option("-k, --top-k <COUNT>", "number of memories, 1 to 20 unless the server allows more", wholeNumber)
    .option(
      "--mode <MODE>",
      "orders by meaning alone (cosine), or by words as well (hybrid)",
      choiceOf("--mode", ["cosine", "hybrid"]),
    )
    .option(...FILTER)
    .option("--after <TIME>", "only what happened after this time, or was stored if it has no other")
    .option("--before <TIME>", "only what happened before this time")
    .option("--min-score <SCORE>", "only memories with at least this score, 0 to 1", numberOf("--min-score"))
    .option("--min-fit <FIT>", "only memories that fit this well, 0 to 1.5", numberOf("--min-fit"))
    .option(
      "--half-life <DURATION>",
      "newer memories stand higher: the age at which that counts half, such as 30d",
      durationGiven,
    )
    .option(
      "--recency-weight <WEIGHT>",
      "what the age adds at most, 0 to 0.5; 0.1 when left out",
      numberOf("--recency-weight"),
    )
    .option("--fields <NAMES>", "the fields of results that are sent, such as id,score")
    .option("--or <QUERY>", "another question: the best results of all; each costs a call", collect, [])
    .option("--like <ID>", "in place of a question: memories like this one")
    .option("--also-in <NAME>", "another namespace to search as well; may be repeated", collect, [])
    .option("--around <COUNT>", "memories stored just before and after each, 1 to 5 of both", wholeNumber)
    .option("--around-same <PATH>", "only those with the same value in their metadata, such as session")
    .option("--max-tokens <COUNT>", "tokens that the texts may have together", wholeNumber)
    .action(memories.recall);
  inNamespace("list", "lists the memories of a namespace, newest first")
    .option("--limit <COUNT>", "number of memories", wholeNumber, 20)
    .option(
      "--order <ORDER>",
      `by when they were stored or when they happened: ${ORDERS.join(", ")}`,
      choiceOf("--order", ORDERS),
    )
    .option(...FILTER)
    .action(memories.list);
  inNamespace("count", "counts the memories of a namespace")
    .option(...FILTER)
    .action(memories.count);
  inNamespace("get <ID>", "shows one memory").action(memories.get);
  inNamespace("update-metadata [ID...]", "changes the metadata of several memories, by ids or a filter")
    .option(...FILTER)
    .option(
      METADATA,
      "metadata to merge at every depth: a pair, or one JSON object; null removes",
      collect,
      [],
    )
    .option("--remove <PATH>", "removes what is at this path, such as a.b; may be repeated", collect, [])
    .option("--dry-run", "changes nothing, and says what the filter matches")
    .action(memories.updateMetadata);
  inNamespace("forget [ID...]", "erases memories")
    .option(...FILTER)
    .option("--all", "erases the namespace with all that it holds")
    .action(memories.forget);
  inNamespace("export", "writes a namespace out as JSON Lines, or all of the account")
    .option("--all", "all namespaces that the key may read, in one file")
    .option("--prefix <PREFIX>", "with --all, those whose names begin with this")
    .option("--file <PATH>", "the file to write; else the standard output")
    .option("--vectors", "with the vectors, for a server with the same model")
    .action(exportTo);
  inNamespace(
    "import <FILE>",
    "stores what another program, or an export, has in FILE; - is the standard input",
  )
    .option("--from <FORMAT>", `what FILE is: ${FORMATS.join(", ")}; else its content tells`)
    .option("--dry-run", "stores nothing, and says what would be stored and what refused")
    .option(...ON_SECRET)
    .action(importFrom);
  inNamespace("watch", "prints each change of a namespace until it is stopped")
    .option("--from <POSITION>", "begins after this position, which an event or an export has")
    .option(
      "--post <URL>",
      "posts each change to this address, and goes on where it stopped when started anew",
    )
    .option(
      "--secret <SECRET>",
      "signs what is posted (RECALLD_HOOK_SECRET, which no list of processes shows)",
    )
    .option("--state <FILE>", "keeps the position in this file; else in one below the user's state folder")
    .option(
      "--give-up-after <DURATION>",
      "ends when one change is not accepted for so long; 1d",
      durationGiven,
    )
    .action(watch);
  const namespaces = under(
    inOneLine(program.command("namespaces")).description("lists and deletes namespaces"),
  );
  namespaces("list", "lists the namespaces of the account", { isDefault: true }).action(memories.namespaces);
  namespaces("delete [NAME]", "deletes a namespace, or all whose names begin with a prefix")
    .option("--force", "also if it holds memories")
    .option("--prefix <PREFIX>", "all namespaces whose names begin with this, such as those of one user")
    .option("--dry-run", "deletes nothing, and says which --prefix means")
    .action(memories.dropNamespaces);
  const keys = under(inOneLine(program.command("keys")).description("lists, makes and revokes keys"));
  keys("list", "lists the account's keys, never a secret", { isDefault: true }).action(accounts.listKeys);
  keys("create", "makes a key, which goes to the standard output")
    .option("--name <TEXT>", "name by which you can tell it from others")
    .option("--read-only", "allows the key to recall and read, but not to store")
    .option("-n, --namespace <NAME>", "the only namespace that the key may use")
    .action(accounts.createKey);
  keys("revoke <ID>", "revokes the key with this id")
    .option("--force", "also if it is the account's last one")
    .action(accounts.revokeKey);
  const account = under(inOneLine(program.command("account")).description("shows and closes the account"));
  account("show", "shows the account and its plan", { isDefault: true }).action(accounts.account);
  account("close <ACCOUNT>", "erases the account with this id, and all that it holds").action(
    accounts.closeAccount,
  );
  command("usage", "shows what the account used, day by day")
    .option("--days <COUNT>", "number of days including today, 1 to 90", wholeNumber)
    .action(accounts.usage);
  // The other parts have command lines of their own: here they are named and completed.
  for (const [part, does] of Object.entries(PARTS)) inOneLine(program.command(part)).description(does);
  return program;
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}
