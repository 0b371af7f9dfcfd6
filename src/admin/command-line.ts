import { constants } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import type { Given } from "./operations.js";

/**
 * Creates a program without commands; those that are added to it share its help and its exit codes.
 *
 * @param name as typed before a command, such as `recalld-admin`
 */
export function commandLine({ name, exitCode }: { name: string; exitCode: number }): Command {
  return (
    new Command(name)
      .helpOption("--help", "shows this text, or that of a command")
      .showHelpAfterError()
      // A suggestion would name a group's command without its group.
      .showSuggestionAfterError(false)
      .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : exitCode))
      .configureHelp({
        commandUsage: (command) =>
          [name, lineOf(command), command.commands.length > 0 && "COMMAND", "[OPTIONS]"]
            .filter(Boolean)
            .join(" "),
        // The overview lists a group's commands in place of the group, which does nothing by itself.
        visibleCommands: commandsOf,
        subcommandTerm: lineOf,
        styleTitle: (title) => title.toLowerCase(),
        // An option that may be repeated begins with none.
        styleOptionDescription: (text) => text.replace(" (default: [])", ""),
      })
  );
}

/**
 * Ends the program without a word when nobody reads its output any more, as behind `| head`: others end by that signal.
 * It goes on when nobody reads its progress.
 */
export function endWithReader(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(128 + constants.signals.SIGPIPE);
    process.stderr.write(`recalld: ${message}\n`);
    process.exit(1);
  });
}

/** Lists the program's commands in the order in which they were added; a group alone is none. */
export function commandsOf(program: Command): Command[] {
  return program.commands.flatMap((each) => (each.commands.length === 0 ? [each] : commandsOf(each)));
}

/** Returns the command's name with that of its group, such as `keys create`. */
export function nameOf(command: Command): string {
  return command.parent === null ? "" : `${nameOf(command.parent)} ${command.name()}`.trim();
}

/** Returns the command with its arguments, such as `keys create ACCOUNT`. */
export function lineOf(command: Command): string {
  const args = command.registeredArguments.map((arg) => {
    const named = arg.variadic ? `${arg.name()}…` : arg.name();
    return arg.required ? named : `[${named}]`;
  });
  return [nameOf(command), ...args].join(" ");
}

/** Returns the typed arguments and options by name, and ends the program if one of them is empty. */
export function givenTo(command: Command): Given {
  const args = command.registeredArguments.map(
    (arg, i) => [arg.name(), arg.name().toLowerCase(), command.processedArgs[i]] as const,
  );
  const options = command.options.map(
    (option) =>
      [`--${option.name()}`, option.name(), command.getOptionValue(option.attributeName())] as const,
  );
  const typed = [...args, ...options].filter(([, , value]) => value !== undefined);
  // A script's variable may be unset: leaving the option out could do more than the script asks for.
  const empty = typed.find(([, , value]) => [value].flat().includes(""));
  if (empty !== undefined) command.error(`error: ${empty[0]} is empty`);
  return Object.fromEntries(typed.map(([, name, value]) => [name, value]));
}

/** Parses an option's value as a whole number; what takes it says how large it may be. */
export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

/**
 * Makes a command's errors one line: what is wrong, what may have been meant, and where to read on. A text that
 * begins with a dash is taken for an option, so the line says how to give one.
 */
export function inOneLine(command: Command): Command {
  return command
    .showSuggestionAfterError(true)
    .showHelpAfterError(false)
    .configureOutput({
      outputError: (text, write) => {
        const what = text
          .replace(/^error: /, "")
          .trim()
          .replace(/\s*\n/g, " ");
        const isText = what.startsWith("unknown option") && command.registeredArguments.length > 0;
        const dash = isText ? "; put -- before a text that begins with a dash" : "";
        // `recalld serve` stands alone, with all of its name.
        const name = command.parent === null ? command.name() : `recalld ${nameOf(command)}`;
        write(`recalld: ${what}${dash}; see ${name} --help\n`);
      },
    });
}
