import complete from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { endWithReader } from "../src/admin/command-line.js";
import { userCommands } from "./commands.js";
import { failureOf } from "./failure.js";

const COMMAND = "completion";

const program = userCommands();
addCompletion(program, process.argv.slice(2));

endWithReader();
program.parseAsync().catch((error: unknown) => {
  const { exitCode, line } = failureOf(error);
  console.error(line);
  process.exitCode = exitCode;
});

/**
 * Adds `completion SHELL`, which prints a script, and `complete`, which that script asks at each press of the
 * key. What the commands are called and take is read from the commands themselves.
 */
function addCompletion(program: Command, [asked]: readonly string[]): void {
  if (asked !== COMMAND && asked !== "complete") {
    program.command(`${COMMAND} <SHELL>`).description("prints a completion script for bash, zsh or fish");
    return;
  }
  // The overview for people lists a group's commands in place of the group, which cannot be completed so.
  for (const each of [program, ...program.commands]) each.configureHelp({ visibleCommands });
  complete(program, { completionCommandName: COMMAND });
}

function visibleCommands({ commands }: Command): Command[] {
  return [...commands];
}
