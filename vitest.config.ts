import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import SlowestFirst from "./test/support/slowest-first.js";

const e2e = (...names: string[]) => names.map((name) => `test/e2e/${name}.test.ts`);

/**
 * These compare how fast a server answers, alone and under load, or expect a model that is fast enough for the main
 * thread at its start: the other tests' load would decide.
 */
const TIMED = [...e2e("flood", "largest", "long-stores", "metrics-measured"), "test/observability.test.ts"];

/**
 * These need other programs, the built pages or several processes, they test tests and tools, or they start processes
 * again and again: `test/e2e/operator.test.ts` has the commands' main promises, and `test/contract/kill.test.ts` those
 * about kill -9.
 */
const MORE = [
  ...["bench", "clients", "conformance", "deploy", "docs", "eval"].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  ...e2e("admin", "backup", "command-line", "format", "killed", "restore", "verify"),
  ...e2e("foreign", "mcp-stdio", "mcpb", "model", "nginx", "open-files", "portal-serving"),
  ...e2e("moving", "outage", "races", "reembed", "remote-model", "replicas", "rolling", "sameness"),
  ...["ferretdb", "mongo", "mongo-away", "owner"].map((name) => `test/contract/${name}.test.ts`),
  "test/simulation/planted.test.ts",
  "test/layers.test.ts",
];

const BROWSER = ["test/browser/**/*.test.ts"];

/** The quick tests have a part of these, as `test/support/quick.ts` says, and the others the rest. */
const LONGER = [
  ...e2e("batch-bodies", "long-texts", "unread-bodies"),
  "test/memory/heavy.test.ts",
  "test/memory/hybrid.test.ts",
  "test/embedding/long-texts.test.ts",
  "test/index/histories.test.ts",
  "test/index/words/find.test.ts",
];

/** These replace modules, or import what registers hooks, once a process: so each needs a process of its own. */
const APART = [
  ...e2e("cost-of-a-call", "drain", "drain-notice"),
  "test/embedding/pull-killed.test.ts",
  "test/index/too-many-files.test.ts",
  ...["memory/idempotency", "server/one-port"].map((beginning) => `test/${beginning}*.test.ts`),
];

/** These run on each database. The quick tests have them on the embedded one. */
const ON_DATABASES = readdirSync("test/e2e")
  .map((name) => `test/e2e/${name}`)
  .filter((path) => path.endsWith(".test.ts") && !MORE.includes(path) && !TIMED.includes(path))
  .filter((path) => readFileSync(path, "utf8").match(/support\/(databases|on-database|mongo\/open)\.js/));

const SIMULATION = "test/simulation/simulation.test.ts";
/** Schedules of the simulation that the quick tests take; the others go on behind them. */
const QUICK_SCHEDULES = 100;
const { SIMULATED_SCHEDULES } = process.env;

// Many tests wait, for a server or a pause, as long as they work: two workers on two cores are idle a fifth of the
// time.
const maxWorkers = Math.max(3, availableParallelism() - 1);

/**
 * What `scripts/test.js` makes is left out: the programs are started as they are shipped, and their data is on a disk.
 */
const AS_SHIPPED = { TEST_MAIN: "", TMPDIR: "" };

const QUICK = {
  env: {
    TEST_DATABASE: "local",
    QUICK: "1",
    SIMULATED_SCHEDULES: SIMULATED_SCHEDULES ?? String(QUICK_SCHEDULES),
  },
  // These wait more, for servers that they share. Measured on two cores and a disk: 4:47 with four workers, 5:04 with
  // three. The gate builds tools beside them.
  maxWorkers: process.env.BUILDS_BESIDE === undefined ? maxWorkers + 1 : maxWorkers,
};

export default defineConfig({
  // What users copy imports the client by its name.
  resolve: { alias: { "@recalld/client": `${import.meta.dirname}/clients/typescript/src/index.ts` } },
  test: {
    // On a machine that does much else, starting a linter or a model alone takes seconds.
    testTimeout: 20_000,
    // Stopping a server and removing a folder with thousands of files take seconds there, too.
    hookTimeout: 60_000,
    sequence: { sequencer: SlowestFirst },
    // Starts nothing until a test asks for a MongoDB.
    globalSetup: ["test/support/mongo/setup.ts"],
    projects: [
      {
        extends: true,
        test: {
          ...QUICK,
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [...MORE, ...BROWSER, ...TIMED, ...APART],
          // The files of a worker share what they import, and a server: see `sharedServer`.
          isolate: false,
        },
      },
      { extends: true, test: { ...QUICK, name: "quick-apart", include: APART } },
      {
        extends: true,
        test: {
          name: "more",
          include: [...MORE, ...LONGER, ...(SIMULATED_SCHEDULES === undefined ? [SIMULATION] : [])],
          env: { SIMULATED_FIRST: String(QUICK_SCHEDULES + 1), SIMULATED_SCHEDULES: "1100" },
          maxWorkers,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: BROWSER,
          // A browser and a server share the cores with all other tests.
          testTimeout: 60_000,
          hookTimeout: 120_000,
          maxWorkers,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "mongo",
          include: ON_DATABASES,
          runner: "./test/support/mongo/runner.ts",
          env: { TEST_DATABASE: "mongo" },
          maxWorkers,
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "alone", include: TIMED, env: AS_SHIPPED, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
