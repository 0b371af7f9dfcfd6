// Compiles the service and starts it: `npm run dev` runs this again after each change. Threads run compiled files alone, and tsx
// sees files that an editor replaces, which Node's own watch loses.
import { spawnSync } from "node:child_process";

const { status } = spawnSync("npx", ["--no-install", "tsc", "-p", ".", "--singleThreaded"], {
  stdio: "inherit",
});
if (status !== 0) process.exit(1);
await import("../dist/src/main.js");
