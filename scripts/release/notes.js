// node scripts/release/notes.js VERSION [FILE]: prints the section of this version in CHANGELOG.md, or in FILE, as the
// notes of a release; `Unreleased` is a version, too. Fails if it is not there or empty.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LINKS = "https://github.com/recalld/recalld/blob";

const [version = "", file = join(ROOT, "CHANGELOG.md")] = argv.slice(2);
const sections = readFileSync(file, "utf8").split(/^## /m).slice(1);
const section = sections.find((each) => each.startsWith(`[${version}]`) || each.startsWith(`${version}\n`));
// The first line is the heading; at the end of the file stand the targets of links.
const notes = (section ?? "")
  .replace(/^.*\n/, "")
  .replace(/^\[[^\]]+\]: .*$/gm, "")
  .trim();
if (version === "" || notes === "") {
  console.error(`${file} has nothing under "## [${version}]"`);
  exit(1);
}
// A release's page is no file of the repository: links within that lead nowhere from there.
const ref = version === "Unreleased" ? "main" : `v${version}`;
console.log(notes.replace(/\]\((?!https?:|#)([^)\s]+)\)/g, `](${LINKS}/${ref}/$1)`));
