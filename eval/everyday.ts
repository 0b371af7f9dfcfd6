import { isDeepStrictEqual } from "node:util";
import { startServer } from "../test/support/server.js";
import { askEveryday, readEveryday, WAYS } from "./everyday-recall.js";

// Counts how many everyday facts are found by their indirect questions, by each way to recall.
const server = await startServer({ env: { FREE_CALLS: "1000000", LOG_LEVEL: "warn" } });
const everyday = readEveryday();
const answers = await askEveryday(server, everyday);
await server.stop();

const { facts, others } = everyday;
console.log(`${facts.length} facts among ${others.length} other memories, found in the first five:`);
for (const [way, name] of WAYS.entries()) {
  const found = answers.filter(({ fact, found }) => found[way]?.includes(fact));
  console.log(`  ${name}: ${found.length} of ${answers.length}`);
}
for (const { fact, question, found } of answers) {
  if (!found[0]?.includes(fact)) console.log(`Not found: ${question} (${fact})`);
}
const differing = answers.filter(({ found }) => !found.every((each) => isDeepStrictEqual(each, found[0])));
for (const { question } of differing) console.error(`The ways differ: ${question}`);
if (differing.length > 0) process.exitCode = 1;
