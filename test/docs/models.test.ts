import { describe, expect, test } from "vitest";
import { FAMILIES, familyOf } from "../../src/embedding/models/families.js";

import { quoted, rows, section, unquoted } from "../support/documents.js";

describe("docs/models.md", () => {
  const table = section("docs/models.md", "## Known families").replaceAll("\\|", "\u00a6");
  const families = rows(table).map((row) => row.map((cell) => cell.replaceAll("\u00a6", "|")));
  const shown = (prefix = "") => (prefix === "" ? "none" : `\`${prefix.replaceAll("\n", "\\n")}\``);

  test("lists every family that is known, as it is known", () => {
    const listed = families.map(([name, , pooling, query, passage, source]) => [
      name,
      unquoted(pooling),
      query,
      passage,
      /\((.*)\)/.exec(source ?? "")?.[1] ?? unquoted(source),
    ]);
    expect(listed).toEqual(
      FAMILIES.map(({ name, pooling, queryPrefix, passagePrefix, source }) => [
        name,
        pooling,
        shown(queryPrefix),
        shown(passagePrefix),
        source,
      ]),
    );
  });

  const examples = families.flatMap(([name, ids]) => quoted(ids).map((id) => ({ name, id })));
  test.each(examples)("counts $id among $name", ({ name, id }) => {
    expect(familyOf(id)?.name).toBe(name);
    expect(familyOf(`owner/${id}`)?.name).toBe(name);
  });
});
