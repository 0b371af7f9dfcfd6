import { simulate } from "./simulation.js";

// This program runs schedules until one fails, and prints its seed and the fault. A second seed is tried first.
const [schedules, first] = process.argv.slice(2).map(Number);
const seeds = Array.from({ length: schedules ?? 0 }, (_, i) => i + 1);
for (const seed of first === undefined ? seeds : [first, ...seeds]) {
  try {
    await simulate({ seed });
  } catch (error) {
    console.log(`${seed} ${(error as Error).message}`);
    process.exit(0);
  }
}
process.exit(1);
