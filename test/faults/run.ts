import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { seconds } from "./figures.js";
import { PARTS } from "./parts.js";
import { type Name, OPTIONAL, SIZES } from "./sizes.js";

const USAGE = `npm run test:faults -- [--short] [--seed N] [PART …]
parts, all of them but ${OPTIONAL.join(", ")} when none is named: ${Object.keys(SIZES).join(", ")}`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: "boolean" },
      seed: { type: "string", default: "1" },
      help: { type: "boolean" },
    },
  });
  const names =
    positionals.length > 0 ? positionals : Object.keys(SIZES).filter((name) => !OPTIONAL.includes(name));
  if (values.help || names.some((name) => !(name in SIZES))) {
    console.log(USAGE);
    process.exit(values.help ? 0 : 2);
  }
  const form = values.short ? "short" : "long";
  console.log(`${form} form, seed ${values.seed}, ${availableParallelism()} cores, Node ${process.version}`);
  const rows: { part: string; outcome: string; time: string; what: string }[] = [];
  for (const name of names as Name[]) {
    const begunMs = performance.now();
    const [outcome, what] = await PARTS[name](SIZES[name][form], Number(values.seed)).then(
      (done) => ["ok", done],
      (error: Error) => ["FAILED", error.message],
    );
    rows.push({
      part: name,
      outcome: outcome as string,
      time: seconds(performance.now() - begunMs),
      what: what as string,
    });
    const { time } = rows.at(-1) as (typeof rows)[0];
    console.log(`${name}: ${outcome}, ${time}: ${what}`);
  }
  console.log(`\n| part | outcome | time | what |\n|---|---|---|---|`);
  for (const { part, outcome, time, what } of rows) {
    console.log(`| ${part} | ${outcome} | ${time} | ${what.split("\n", 1)[0]} |`);
  }
  process.exit(rows.every(({ outcome }) => outcome === "ok") ? 0 : 1);
}

await main();
