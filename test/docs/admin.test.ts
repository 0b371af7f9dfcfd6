import { describe, expect, test } from "vitest";
import { commandsOf, lineOf } from "../../src/admin/command-line.js";
import { adminCommands, EXIT } from "../../src/admin/commands.js";

import { items, quoted, section } from "../support/documents.js";

describe("the commands in docs/operations.md", () => {
  test("lists every command, as the program has it", () => {
    const listed = items(section("docs/operations.md", "### Commands")).map(([command, , text = ""]) => {
      const [, does, options] = /^(.*?)(?: \((`--.*)\))?$/.exec(text) ?? [];
      return [command, does, quoted(options)];
    });
    expect(listed).toEqual(
      commandsOf(adminCommands(async () => {})).map((command) => [
        lineOf(command),
        command.description(),
        command.options.map(({ long }) => long).filter((name) => name !== "--json"),
      ]),
    );
  });

  test("lists every exit code", () => {
    const codes = items(section("docs/operations.md", "### For scripts")).map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });
});
