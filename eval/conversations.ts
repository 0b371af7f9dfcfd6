import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Conversation } from "./conversation.js";
import { DataFolder } from "./data-folder.js";
import { withTables } from "./page.js";
import { type Figures, SECTIONS, summarizeConversations } from "./page-conversations.js";
import { Progress } from "./progress.js";

// Measures what `neighbors` and `recency` do to recalls from conversations: LoCoMo and LongMemEval, all questions.
// docs/quality.md says how.

const SETS = ["locomo", "longmemeval-s-user", "longmemeval-oracle-pool"];
const PAGE = fileURLToPath(new URL("../docs/quality.md", import.meta.url));
const FIGURES = fileURLToPath(new URL("conversations.json", import.meta.url));

const { values } = parseArgs({
  options: {
    data: { type: "string", default: process.env.EVAL_DATA },
    sets: { type: "string", default: SETS.join(",") },
    page: { type: "boolean", default: false },
  },
});
if (!values.page) {
  if (values.data === undefined) throw new Error("no data: name its folder with --data or EVAL_DATA");
  writeFileSync(
    FIGURES,
    `${JSON.stringify(await measure(values.data, values.sets.split(",")), fourDigits, 2)}\n`,
  );
}
const figures = JSON.parse(readFileSync(FIGURES, "utf8")) as Figures;
writeFileSync(PAGE, withTables(readFileSync(PAGE, "utf8"), SECTIONS, figures, "conversations"));
for (const section of Object.values(SECTIONS)) console.log(section(figures));

async function measure(path: string, names: readonly string[]): Promise<Figures> {
  const data = new DataFolder(path, "dev");
  const progress = new Progress();
  const measured: Record<string, Awaited<ReturnType<Conversation["measure"]>>> = {};
  for (const name of names) {
    const conversation = await Conversation.open(data.retrieval(name));
    try {
      measured[name] = await conversation.measure((what, done, all) => {
        progress.report(`${name}, ${what}:`, done, all);
      });
    } finally {
      await conversation.close();
    }
  }
  return summarizeConversations(measured);
}

/** Rounds figures, because more digits would be noise and change with every run. */
function fourDigits(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value;
}
