// node scripts/test.js [ARGUMENT …], after `tsc -p .`: runs Vitest with these arguments.
//
// Most servers and operator's commands of the tests start from a bundle of what was compiled: it is the same code in
// some files in place of a thousand, so that a server's start takes a quarter less, and a command's a third. It is made
// for one run, is never shipped, and is removed at the end. `vitest.config.ts` names the tests that start what is
// shipped; so does `npx vitest`.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { STAND_INS } from "./production/rules.js";

const COMPILED = "dist/src";
/** The server, what its threads run (each looks for its script beside itself), and the operator's commands. */
const ENTRIES = [
  "main",
  "admin",
  "embedding/pool/worker",
  "embedding/models/pull-worker",
  "index/vectors/index-worker",
];
/** These load native libraries by paths of their own. */
const APART = ["lmdb", "onnxruntime-node", "usearch"];

// Below the package's root, where the program finds its model and pages.
const folder = mkdtempSync("dist/test-");
const remove = () => rmSync(folder, { recursive: true, force: true });
process.once("exit", remove);
await bundle();
const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, TEST_MAIN: join(process.cwd(), folder, "main.js") },
});
// ^C reaches Vitest as well: this waits for its end.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => process.exit(code ?? 1));

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
        input: Object.fromEntries(ENTRIES.map((path) => [path.split("/").at(-1), `${COMPILED}/${path}.js`])),
        output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
      },
    },
  });
}

function resolveId(id) {
  return Object.hasOwn(STAND_INS, id) ? `\0${id}.cjs` : undefined;
}

function load(id) {
  return id.startsWith("\0") ? STAND_INS[id.slice(1, -".cjs".length)] : undefined;
}
