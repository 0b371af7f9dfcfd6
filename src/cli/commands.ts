import type { Command } from "commander";
import { FORMATS } from "../importing/import-file.js";
import { commandLine, wholeNumber } from "../operator/command-line.js";
import { forget, get, list, namespaces, recall, signUp, store, update } from "./actions.js";
import { completionFor } from "./completion.js";
import { EXIT } from "./exit.js";
import { exportTo, importFrom } from "./transfer.js";
import { watch } from "./watch.js";

const NAMESPACE_DEFAULT = "default";

const HELP = `
serve, admin, model and mcp are the other parts of this program: see their own --help.

The server is named by --url, RECALLD_URL or the profile that \`recalld signup\` writes; the key by
RECALLD_API_KEY or the profile. The exit code is 0, or 1 if the server refused or failed, 2 for a line
that is not understood, 3 without a key that may do it, 4 if there is no such memory, 5 at a limit of the
plan, 6 if the server cannot be reached.`;

/** The commands for those who use a server. */
export function userCommands(): Command {
  const program = commandLine({ name: "recalld", exitCode: EXIT.notUnderstood }).addHelpText("after", HELP);
  const command = (line: string, description: string) =>
    program
      .command(line)
      .description(description)
      .option("--url <URL>", "address of the server")
      .option("--json", "prints the answer as JSON");
  const inNamespace = (line: string, description: string) =>
    command(line, description).option("-n, --namespace <NAME>", "the namespace", NAMESPACE_DEFAULT);

  command("signup", "makes an account, and writes its key into the profile")
    .option("--email <ADDRESS>", "address of the account's owner")
    .action(signUp);
  inNamespace("store [TEXT]", "stores a text, from the line, a file, or the standard input")
    .option("--file <PATH>", "reads the text from a file; - is the standard input")
    .option("-m, --metadata <KEY=VALUE...>", "metadata: pairs, or one JSON object", collect, [])
    .option("--external-id <ID>", "your own id for the memory")
    .option("--on-conflict <ACTION>", "if a memory has that id already: refuse, replace or keep")
    .option("--supersedes <ID...>", "memories that this one corrects", collect, [])
    .option("--ttl <DURATION>", "how long the memory lives, such as 3600s")
    .action(store);
  inNamespace("update <ID> [TEXT]", "gives a memory another text, metadata or expiry")
    .option("--file <PATH>", "reads the text from a file; - is the standard input")
    .option("-m, --metadata <KEY=VALUE...>", "the new metadata: pairs, or one JSON object", collect, [])
    .option("--ttl <DURATION>", "how long it lives from now, such as 3600s")
    .option("--expires <TIME>", "when it expires, such as 2030-01-01T00:00:00Z")
    .option("--etag <ETAG>", "updates only this version")
    .action(update);
  inNamespace("recall <QUERY>", "finds the memories that fit a question best, by meaning and words")
    .option("-k, --top-k <COUNT>", "number of memories, 1 to 20", wholeNumber)
    .option("--cosine", "orders by meaning alone")
    .action(recall);
  inNamespace("list", "lists the memories of a namespace, newest first")
    .option("--limit <COUNT>", "number of memories", wholeNumber, 20)
    .action(list);
  inNamespace("get <ID>", "shows one memory").action(get);
  inNamespace("forget <ID>", "erases one memory").action(forget);
  inNamespace("export", "writes a namespace out as JSON Lines")
    .option("--file <PATH>", "the file to write; else the standard output")
    .option("--vectors", "with the vectors, for a server with the same model")
    .action(exportTo);
  inNamespace(
    "import <FILE>",
    "stores what another program, or an export, has in FILE; - is the standard input",
  )
    .option("--from <FORMAT>", `what FILE is: ${FORMATS.join(", ")}; else its content tells`)
    .option("--dry-run", "stores nothing, and says what would be stored and what refused")
    .action(importFrom);
  inNamespace("watch", "prints each change of a namespace until it is stopped")
    .option("--from <POSITION>", "begins behind this position, which an event or an export has")
    .action(watch);
  command("namespaces", "lists the namespaces of the account").action(namespaces);
  program
    .command("completion <SHELL>")
    .description("prints a completion script for bash, zsh or fish")
    .action((shell: string) => console.log(completionFor(shell, program)));
  return program;
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}
