import type { Command } from "commander";
import { commandLine, wholeNumber } from "../operator/command-line.js";
import { forget, get, list, namespaces, recall, signUp, store } from "./actions.js";
import { completionFor } from "./completion.js";
import { EXIT } from "./exit.js";

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
    .action(store);
  inNamespace("recall <QUERY>", "finds the memories that fit a question best, by meaning and words")
    .option("-k, --top-k <COUNT>", "number of memories, 1 to 20", wholeNumber)
    .option("--cosine", "orders by meaning alone")
    .action(recall);
  inNamespace("list", "lists the memories of a namespace, newest first")
    .option("--limit <COUNT>", "number of memories", wholeNumber, 20)
    .action(list);
  inNamespace("get <ID>", "shows one memory").action(get);
  inNamespace("forget <ID>", "erases one memory").action(forget);
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
