import { existsSync, readFileSync, writeFileSync } from "node:fs";
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
  await measure(values.data, values.sets.split(","));
}
const figures = kept();
writeFileSync(
  PAGE,
  withTables(readFileSync(PAGE, "utf8"), SECTIONS, figures, "npm run eval -- conversations"),
);
for (const section of Object.values(SECTIONS)) console.log(section(figures));

/** Measures sets one after the other, and keeps the figures of the others. */
async function measure(path: string, names: readonly string[]): Promise<void> {
  const data = new DataFolder(path, "dev");
  const progress = new Progress();
  for (const name of names) {
    const conversation = await Conversation.open(data.retrieval(name));
    try {
      const measured = await conversation.measure((what, done, all) => {
        progress.report(`${name}, ${what}:`, done, all);
      });
      const all = { ...kept(), ...summarizeConversations({ [name]: measured }) };
      const inOrder = SETS.flatMap((set) => (set in all ? [[set, all[set]]] : []));
      writeFileSync(FIGURES, `${JSON.stringify(Object.fromEntries(inOrder), fourDigits, 2)}\n`);
    } finally {
      await conversation.close();
    }
  }
}

function kept(): Figures {
  return existsSync(FIGURES) ? (JSON.parse(readFileSync(FIGURES, "utf8")) as Figures) : {};
}

/** Rounds figures, because more digits would be noise and change with every run. */
function fourDigits(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value;
}
