import { simulate } from "./simulation.js";

// This program runs schedules until one fails, and prints its seed and the fault.
const schedules = Number(process.argv[2]);
for (let seed = 1; seed <= schedules; seed++) {
  try {
    await simulate({ seed });
  } catch (error) {
    console.log(`${seed} ${(error as Error).message}`);
    process.exit(0);
  }
}
process.exit(1);
