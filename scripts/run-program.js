// `npm run bench -- NAME …` and `npm run eval -- NAME …`: builds, then runs FOLDER/NAME.ts with the other arguments.
import { spawnSync } from "node:child_process";

const PROGRAMS = {
  bench: [
    "compare",
    "profile",
    "recall",
    "overhead",
    "scale",
    "batch",
    "words",
    "hybrid",
    "filter",
    "calls",
    "telemetry",
    "backup",
    "soak",
    "services",
  ],
  eval: ["quality", "conversations", "everyday", "paraphrases"],
};

const [folder, name, ...options] = process.argv.slice(2);
if (!PROGRAMS[folder].includes(name)) {
  console.error(`npm run ${folder} -- NAME, which is one of ${PROGRAMS[folder].join(", ")}`);
  process.exit(2);
}
run("npm", ["run", "-s", "build"]);
run("npx", ["tsx", `${folder}/${name}.ts`, ...options]);

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
