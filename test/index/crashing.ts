import { setTimeout } from "node:timers/promises";
import { chanceOf } from "../support/chance.js";
import { History } from "./history.js";

// Changes an index at random until this process is killed; the arguments are a seed and a folder.
const [seed = "1", folder = ""] = process.argv.slice(2);
const chance = chanceOf(Number(seed));
const history = new History({ chance, folder, mergedAtOnceBytes: 1_000 });
await history.restore();
process.stdout.write("ready\n");
for (;;) {
  await history.step();
  // Manifests are written in pauses.
  await setTimeout(chance.below(15));
}
