import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { COMMANDS, COMMON, type Command, type Option } from "./commands.js";
import type { Given } from "./operations.js";

/** A parsed command line: a command with its arguments, or a text to print instead. */
export type Asked =
  | { readonly command: Command; readonly given: Given; readonly json: boolean }
  | { readonly help: string }
  | { readonly wrong: string };

export function readLine(args: readonly string[]): Asked {
  const command = COMMANDS.find(({ name }) => name.split(" ").every((word, i) => args[i] === word));
  if (command === undefined) {
    if (args.includes("--help") || args[0] === "help") return { help: overview(args[0]) };
    return {
      wrong: `${args.length === 0 ? "a command is missing" : `no command: ${args.join(" ")}`}\n\n${overview(args[0])}`,
    };
  }
  try {
    const { values, positionals } = parseArgs({
      args: args.slice(command.name.split(" ").length),
      options: configOf({ ...command.options, ...COMMON }),
      allowPositionals: true,
    });
    if (values.help === true) return { help: helpFor(command) };
    const { json, ...options } = values;
    return {
      command,
      json: json === true,
      given: { ...valuesIn(command, options), ...named(command, positionals) },
    };
  } catch (error) {
    return { wrong: `${(error as Error).message}\n\n${helpFor(command)}` };
  }
}

/** Help for all commands, or for a group such as `keys`. */
function overview(group?: string): string {
  const some = COMMANDS.filter(({ name }) => name.split(" ")[0] === group);
  const shown = some.length > 0 ? some : COMMANDS;
  const width = Math.max(...shown.map((command) => lineOf(command).length)) + 2;
  return [
    "usage: recalld-admin COMMAND [--json] [--help]",
    "",
    ...shown.map((command) => `  ${lineOf(command).padEnd(width)}${command.does[0]}`),
    "",
    "They work on the database that the settings name (MONGODB_URI, else DATA_DIR). `COMMAND --help`",
    "tells more of one.",
  ].join("\n");
}

function helpFor(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON });
  const shown = options.map(([name, { value, does }]) => [`--${name}${value ? ` ${value}` : ""}`, does]);
  const width = Math.max(...shown.map(([option = ""]) => option.length)) + 2;
  const [first, ...more] = command.does;
  return [
    `usage: recalld-admin ${lineOf(command)} [OPTIONS]`,
    "",
    `${first[0]?.toUpperCase()}${first.slice(1)}.`,
    ...more,
    "",
    ...shown.map(([option = "", does]) => `  ${option.padEnd(width)}${does}`),
  ].join("\n");
}

/** The usage line of a command: its name and its arguments. */
export function lineOf(command: Command): string {
  return [command.name, ...command.arguments.map((each) => each.replace(/(.*)\?$/, "[$1]"))].join(" ");
}

function configOf(options: Readonly<Record<string, Option>>): ParseArgsOptionsConfig {
  const entries = Object.entries(options);
  return Object.fromEntries(
    entries.map(([name, { value }]) => [name, { type: value === undefined ? "boolean" : "string" }]),
  );
}

function valuesIn({ options }: Command, values: Given): Given {
  const read = ([name, value]: [string, unknown]) => {
    // An empty value comes from an unset variable. Ignoring the option could do more than was asked for.
    if (value === "") throw new Error(`--${name} is empty`);
    if (options[name]?.value !== "NUMBER") return [name, value];
    if (!/^\d{1,15}$/.test(String(value)))
      throw new Error(`--${name} is ${value}; it must be a whole number`);
    return [name, Number(value)];
  };
  return Object.fromEntries(Object.entries(values).map(read));
}

/** The arguments by their names, in lower case. */
function named(command: Command, positionals: readonly string[]): Given {
  const needed = command.arguments.filter((each) => !each.endsWith("?"));
  const missing = needed[positionals.length];
  if (missing !== undefined) throw new Error(`${missing} is missing`);
  const extra = positionals[command.arguments.length];
  if (extra !== undefined) throw new Error(`${command.name} takes no ${JSON.stringify(extra)}`);
  const empty = positionals.indexOf("");
  if (empty >= 0) throw new Error(`${command.arguments[empty]?.replace("?", "")} is empty`);
  return Object.fromEntries(
    positionals.map((value, i) => [(command.arguments[i] ?? "").replace("?", "").toLowerCase(), value]),
  );
}
