import { Command, InvalidArgumentError } from "commander";
import type { Given } from "./operations.js";

export interface CommandLineOptions {
  /** What is typed before a command, such as `recalld-admin`. */
  readonly name: string;
  /** Exit code for a line that is not understood. */
  readonly exitCode: number;
}

/** Begins a program whose commands are added to it; they take over its help and its exit codes. */
export function commandLine({ name, exitCode }: CommandLineOptions): Command {
  return (
    new Command(name)
      .helpOption("--help", "shows this text, or that of a command")
      .showHelpAfterError()
      // It would name a group's command without its group.
      .showSuggestionAfterError(false)
      .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : exitCode))
      .configureHelp({
        commandUsage: (command) =>
          [name, lineOf(command), command.commands.length > 0 && "COMMAND", "[OPTIONS]"]
            .filter(Boolean)
            .join(" "),
        // A group's commands stand in the overview themselves: the group alone does nothing.
        visibleCommands: commandsOf,
        subcommandTerm: lineOf,
        styleTitle: (title) => title.toLowerCase(),
      })
  );
}

/** Every command that does something, in the order in which they were added. */
export function commandsOf(program: Command): Command[] {
  return program.commands.flatMap((each) => (each.commands.length === 0 ? [each] : commandsOf(each)));
}

/** The command's name with that of its group, such as `keys create`. */
export function nameOf(command: Command): string {
  return command.parent === null ? "" : `${nameOf(command.parent)} ${command.name()}`.trim();
}

/** The command as it is typed, with its arguments, such as `keys create ACCOUNT`. */
export function lineOf(command: Command): string {
  const args = command.registeredArguments.map((arg) => (arg.required ? arg.name() : `[${arg.name()}]`));
  return [nameOf(command), ...args].join(" ");
}

/** Arguments and options that were typed, by name; it ends the program if one of them is empty. */
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
  const empty = typed.find(([, , value]) => value === "");
  if (empty !== undefined) command.error(`error: ${empty[0]} is empty`);
  return Object.fromEntries(typed.map(([, name, value]) => [name, value]));
}

/** Parses an option's value as a whole number of up to 15 digits. */
export function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}
