/** Writes to the folder it is given until the disk takes no more, and says how that was. */
import { openLocal } from "../../../src/storage/local/open.js";
import { aMemory, entriesOf } from "../samples.js";

const { log, check, close } = await openLocal({ dataDir: process.argv[2] as string });
const incarnation = "full";
const text = "x".repeat(20_000);

let kept = 0;
try {
  for (;;) kept += await log.append({ incarnation, from: kept + 1, entries: [aMemory({ text })] });
} catch (error) {
  const { code, message } = error as Error & { code: string };
  const read = await entriesOf(log, { incarnation, from: 1, limit: kept + 9 });
  await check();
  await close();
  console.log(JSON.stringify({ code, message, kept, read: read.length }));
}
