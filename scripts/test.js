// node scripts/test.js [ARGUMENT …], after `tsc -p .`: runs Vitest with these arguments.
//
// Most servers and commands of the tests start from a bundle of what was compiled: it is the same code in
// some files in place of a thousand, and V8 compiles it once, so that a start takes half the work. It is made for one
// run, is never shipped, and is removed at the end. `vitest.config.ts` names the tests that start what is shipped; so
// does `npx vitest`.
//
// The tests' folders are in memory where it has room: a disk takes milliseconds for each commit. What a killed process
// has written lasts there as it does on a disk.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { STAND_INS } from "./production/rules.js";

const COMPILED = "dist/src";
/** The programs, what tests import to start threads, and what threads run: each is looked for beside what starts it. */
const ENTRIES = [
  "main",
  "admin",
  "model",
  "recalld",
  "embedding/open",
  "embedding/models/pull",
  "embedding/pool/thread",
  "embedding/pool/worker",
  "embedding/models/pull-worker",
  "index/vectors/index-worker",
];
const NAMES = ENTRIES.map((path) => path.split("/").at(-1));
/** These load native libraries by paths of their own. */
const APART = ["lmdb", "onnxruntime-node", "usearch"];

const MEMORY = "/dev/shm";
/** About four times what the tests have there at once. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

// Below the package's root, where the program finds its model and pages.
const folder = mkdtempSync("dist/test-");
const data = mkdtempSync(join(hasSpace(MEMORY) ? MEMORY : tmpdir(), "recalld-tests-"));
process.once("exit", () => {
  for (const made of [folder, data]) rmSync(made, { recursive: true, force: true });
});
await bundle();
for (const name of NAMES) writeFileSync(join(folder, `${name}.js`), starter(name));
await keepCode();
const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, TEST_MAIN: join(process.cwd(), folder, "main.js"), TMPDIR: data },
});
// ^C reaches Vitest as well: this waits for its end.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => process.exit(code ?? 1));

function hasSpace(path) {
  if (!existsSync(path)) return false;
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize >= MEMORY_BYTES_MIN;
}

function bundle() {
  return build({
    configFile: false,
    logLevel: "error",
    publicDir: false,
    ssr: { noExternal: true, external: APART, target: "node" },
    plugins: [{ name: "stand-ins", enforce: "pre", resolveId, load }],
    build: {
      ssr: true,
      target: "node20",
      minify: false,
      outDir: folder,
      rolldownOptions: {
        input: Object.fromEntries(ENTRIES.map((path, n) => [NAMES[n], `${COMPILED}/${path}.js`])),
        // Compiled code that is kept has no `import()`.
        output: {
          format: "cjs",
          dynamicImportInCjs: false,
          entryFileNames: "[name].cjs",
          chunkFileNames: "[name]-[hash].cjs",
        },
      },
    },
  });
}

function starter(name) {
  const start = JSON.stringify(join(process.cwd(), "scripts/code-cache.js"));
  return `import { start } from ${start};\nstart(new URL("./${name}.cjs", import.meta.url));\n`;
}

/** Starts and stops the server once, so that the tests' servers find its code compiled. */
async function keepCode() {
  const server = spawn(process.execPath, [join(folder, "main.js")], {
    env: { DATA_DIR: join(folder, "data"), PORT: "0", DRAIN_NOTICE_MS: "0", LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  // It stops as soon as it has started.
  server.stdout.once("data", () => server.kill());
  await once(server, "close");
}

function resolveId(id) {
  return Object.hasOwn(STAND_INS, id) ? `\0${id}.cjs` : undefined;
}

function load(id) {
  return id.startsWith("\0") ? STAND_INS[id.slice(1, -".cjs".length)] : undefined;
}
