import type { Command } from "commander";
import { commandsOf, nameOf } from "../operator/command-line.js";
import { UsageError } from "./failure.js";

/** Commands of the other parts of the program. */
const PARTS = ["serve", "admin", "model", "mcp"];

/**
 * Writes a completion script, made from the commands themselves.
 *
 * @throws UsageError for a shell that is not known.
 */
export function completionFor(shell: string, program: Command): string {
  const options = new Map(
    commandsOf(program).map((each) => [
      nameOf(each),
      each.options.map(({ long }) => long ?? "").filter(Boolean),
    ]),
  );
  if (shell === "bash") return bash(options);
  if (shell === "zsh") return `autoload -U +X bashcompinit && bashcompinit\n${bash(options)}`;
  if (shell === "fish") return fish(options);
  throw new UsageError(`${shell}: completion is for bash, zsh and fish`);
}

type Options = ReadonlyMap<string, readonly string[]>;

function bash(options: Options): string {
  const cases = [...options].map(([name, all]) => `    ${name}) words="${all.join(" ")}" ;;`);
  const [typed, first] = ["$" + "{COMP_WORDS[COMP_CWORD]}", "$" + "{COMP_WORDS[1]}"];
  return [
    "_recalld() {",
    `  local words="" current="${typed}"`,
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${[...PARTS, ...options.keys()].join(" ")}"`,
    `  else case "${first}" in`,
    ...cases,
    "  esac; fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _recalld recalld",
  ].join("\n");
}

function fish(options: Options): string {
  const first = [...PARTS, ...options.keys()].join(" ");
  const lines = [...options].flatMap(([name, all]) =>
    all.map((option) => `complete -c recalld -n '__fish_seen_subcommand_from ${name}' -l ${option.slice(2)}`),
  );
  return [`complete -c recalld -n '__fish_use_subcommand' -f -a '${first}'`, ...lines].join("\n");
}
