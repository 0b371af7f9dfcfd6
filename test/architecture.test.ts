import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { documents, quoted, ROOT, read, section, sources } from "./support/documents.js";

test("each folder of src has its row in ARCHITECTURE.md, and no other is described there", () => {
  const described = section("ARCHITECTURE.md", "## Folders").match(/(?<=^\| `)src\/[^`]+(?=\/` )/gm);
  const folders = new Set([...sources.keys()].map((path) => dirname(path)));
  folders.delete("src");
  expect(described?.sort()).toEqual([...folders].sort());
});

// Records of the past name what there was.
const current = documents.filter((path) => path !== "CHANGELOG.md");

test.each(current)("%s names only files that there are", (path) => {
  const named = quoted(read(path)).filter((code) => /^(?:src|cli|web|test|scripts)\/[\w./-]+$/.test(code));
  expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
});
