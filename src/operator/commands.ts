import { MemoryError } from "../errors.js";

/** One of the operator's commands. */
export interface Command {
  /** The command's words, such as `keys create`. */
  readonly name: string;
  /** Arguments in their order; one that ends with `?` may be left out. */
  readonly arguments: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** Description for `--help`: one line, and details below it. */
  readonly does: readonly [string, ...string[]];
}

export interface Option {
  /** Name of the option's value, in capitals; absent for a flag. */
  readonly value?: "TEXT" | "NUMBER";
  readonly does: string;
}

const flag = (does: string): Option => ({ does });
const textual = (does: string): Option => ({ value: "TEXT", does });
const numeric = (does: string): Option => ({ value: "NUMBER", does });

/** Options of every command. */
export const COMMON = {
  json: flag("the answer as JSON"),
  help: flag("this text, or that of a command"),
};

/** All commands, in the order of `--help`. */
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

/** Exit codes of the program; docs/admin.md has the same table. */
export const EXIT = { done: 0, refused: 1, notUnderstood: 2, unavailable: 3 } as const;

export function exitCodeOf(error: unknown): number {
  return error instanceof MemoryError && error.code === "unavailable" ? EXIT.unavailable : EXIT.refused;
}
