import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { MemoryError } from "../errors.js";
import type { Given } from "./operations.js";

/** One of the operator's commands. */
export interface Command {
  /** As it is typed, such as `keys create`. */
  readonly name: string;
  /** What must follow it, in this order; with `?` at its end it may be left out. */
  readonly arguments: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** What it does, for `--help`: a line, and more if there is more to say. */
  readonly does: readonly [string, ...string[]];
}

interface Option {
  /** What its value is, in capitals; absent for a flag. */
  readonly value?: "TEXT" | "NUMBER";
  readonly does: string;
}

const flag = (does: string): Option => ({ does });
const textual = (does: string): Option => ({ value: "TEXT", does });
const numeric = (does: string): Option => ({ value: "NUMBER", does });

/** For every command. */
const COMMON = {
  json: flag("the answer as JSON"),
  help: flag("this text, or that of a command"),
};

/** All there are, in the order in which they are told. */
export const COMMANDS: readonly Command[] = [
  {
    name: "accounts list",
    arguments: [],
    options: {
      limit: numeric("how many, 1 to 1,000; 100 when left out"),
      after: textual("the id of the account behind which to go on"),
    },
    does: ["lists accounts, the oldest first"],
  },
  { name: "accounts show", arguments: ["ACCOUNT"], options: {}, does: ["shows an account and what it used"] },
  {
    name: "accounts create",
    arguments: [],
    options: { email: textual("of the form name@host; never written to") },
    does: [
      "makes an account, also where SIGNUP=closed",
      "Its key alone goes to stdout, this once; all else goes to stderr.",
    ],
  },
  {
    name: "accounts close",
    arguments: ["ACCOUNT"],
    options: { force: flag("needed: nothing brings it back") },
    does: ["erases an account: its memories, its usage and its keys"],
  },
  {
    name: "plans list",
    arguments: [],
    options: {},
    does: ["lists the plans there are", "They stand in PLANS_FILE; what is not limited is shown as -."],
  },
  {
    name: "plans set",
    arguments: ["ACCOUNT", "PLAN"],
    options: {},
    does: ["gives an account a plan", "What was used stays used. Running servers follow within a minute."],
  },
  {
    name: "keys list",
    arguments: ["ACCOUNT"],
    options: {},
    does: ["lists an account's keys, never a secret"],
  },
  {
    name: "keys create",
    arguments: ["ACCOUNT"],
    options: {
      name: textual("for its owner to tell it by"),
      "read-only": flag("it may recall and read, but not store"),
      namespace: textual("the only one it may touch"),
      replaces: textual(
        "the id of the key that ends when this one is used; it has that key's rights, and so no others",
      ),
      "grace-seconds": numeric("with --replaces: how long that key goes on then, 0 to 86,400"),
    },
    does: ["makes a key", "The key alone goes to stdout, this once; all else goes to stderr."],
  },
  {
    name: "keys revoke",
    arguments: ["ACCOUNT", "KEY"],
    options: { force: flag("also the account's last one") },
    does: ["revokes the key with this id, on every replica at once"],
  },
  {
    name: "usage",
    arguments: ["ACCOUNT"],
    options: { days: numeric("how many days, today included, 1 to 90; 30 when left out") },
    does: ["shows what an account used, day by day"],
  },
  {
    name: "verify",
    arguments: [],
    options: {},
    does: [
      "reads every entry and every snapshot",
      "Numbers are dense, memories whole, and of what was forgotten nothing is left. The embedded database",
      "must not be in use.",
    ],
  },
  {
    name: "compact",
    arguments: [],
    options: {},
    does: [
      "rewrites the embedded database without free space",
      "And so without what erased memories left there. It must not be in use.",
    ],
  },
  {
    name: "backup",
    arguments: ["FOLDER"],
    options: {},
    does: [
      "takes a backup of the embedded database, also while a server uses it",
      "FOLDER must not be there. All that was answered before is in the backup.",
    ],
  },
  {
    name: "restore",
    arguments: ["BACKUP"],
    options: {},
    does: [
      "puts a backup into DATA_DIR, which must be empty",
      "Its hash is checked and all of it is read back before the database gets its name.",
    ],
  },
  {
    name: "reembed",
    arguments: ["MODEL?"],
    options: {
      "at-once": flag("the present model is gone: namespaces are read anew when they are used"),
      status: flag("says how far it is"),
      abandon: flag("gives it up"),
    },
    does: [
      "changes the database's model while services use it",
      "They make the new vectors beside the old ones, then switch; this shows how far it is. Stopping the",
      "command stops nothing.",
    ],
  },
];

/** How the program ends; docs/admin.md has the same table. */
export const EXIT = { done: 0, refused: 1, notUnderstood: 2, unavailable: 3 } as const;

export function exitCodeOf(error: unknown): number {
  return error instanceof MemoryError && error.code === "unavailable" ? EXIT.unavailable : EXIT.refused;
}

/** What was typed: a command and what it is given, or what to say instead. */
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

/** All commands, or those of a group such as `keys`. */
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

/** As it is typed, with what must follow it. */
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
    // Of a variable that is not set: to leave the option out could mean more than was asked for.
    if (value === "") throw new Error(`--${name} is empty`);
    if (options[name]?.value !== "NUMBER") return [name, value];
    if (!/^\d{1,15}$/.test(String(value)))
      throw new Error(`--${name} is ${value}; it must be a whole number`);
    return [name, Number(value)];
  };
  return Object.fromEntries(Object.entries(values).map(read));
}

/** The arguments by their names, in small letters. */
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
