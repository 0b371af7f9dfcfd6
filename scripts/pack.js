// node scripts/pack.js [--all] [TARGET], after `npm ci` and `npm run build`; `npm run pack` does both.
//
// Puts into TARGET, a folder that is not there yet (dist/packages, if left out, is replaced), the packages that npm
// gets: `recalld`, and for this system (for each with --all) the ONNX runtime that it loads, such as
// `@recalld/onnxruntime-linux-x64`. Installing them runs no script that compiles or downloads: onnxruntime-node's own
// would download libraries for graphics cards. Prints each file and its size.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { exit } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { filesOf, ownFiles } from "./production/files.js";
import { STAND_INS, whyLeftOut } from "./production/rules.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TARGET_DEFAULT = join(ROOT, "dist/packages");
const RUNTIME = "node_modules/onnxruntime-node";
const BINARIES = `${RUNTIME}/bin/napi-v6`;
const TRANSFORMERS = "node_modules/@xenova/transformers";
/** What Transformers.js asks for, though recalld has a package or a stand-in for it, or never calls it. */
const NOT_ASKED_FOR = ["onnxruntime-node", "onnxruntime-web", "sharp"];
/** The same library again, under its full version; the binding asks for the other name. */
const SECOND_COPY = /\/libonnxruntime\.\d+\.\d+\.\d+\.dylib$/;
const NPM_ANSWER_BYTES_MAX = 16 * 1024 * 1024;

const { values, positionals } = parseArgs({ options: { all: { type: "boolean" } }, allowPositionals: true });
const TARGET = resolve(positionals[0] ?? TARGET_DEFAULT);
if (TARGET !== TARGET_DEFAULT && existsSync(TARGET)) {
  console.error("usage: node scripts/pack.js [--all] [TARGET] (a folder that is not there yet)");
  exit(1);
}
const own = readJson("package.json");
const runtime = readJson(`${RUNTIME}/package.json`);
const systems = readdirSync(join(ROOT, BINARIES)).flatMap((platform) =>
  readdirSync(join(ROOT, BINARIES, platform)).map((arch) => ({ platform, arch })),
);
const isThis = ({ platform, arch }) => platform === process.platform && arch === process.arch;

rmSync(TARGET, { recursive: true, force: true });
stageServer();
const wanted = systems.filter((system) => values.all || isThis(system));
for (const system of wanted) stageRuntime(system);
for (const folder of ["recalld", ...wanted.map(folderOf)]) pack(folder);

/** The server, with what of Transformers.js is loaded. */
function stageServer() {
  for (const file of [...ownFiles(ROOT), "README.md", "CHANGELOG.md"]) copy(file, "recalld", file);
  const transformers = readJson(`${TRANSFORMERS}/package.json`);
  for (const file of filesOf(ROOT, TRANSFORMERS)) {
    if (whyLeftOut(file, {}) === undefined) copy(file, "recalld", file);
  }
  const asked = Object.entries(transformers.dependencies).filter(([name]) => !NOT_ASKED_FOR.includes(name));
  writeJson(`recalld/${TRANSFORMERS}/package.json`, {
    ...transformers,
    dependencies: Object.fromEntries(asked),
  });
  const standIns = { ...STAND_INS, "onnxruntime-node": runtimeOfSystem() };
  for (const [name, code] of Object.entries(standIns)) {
    writeJson(`recalld/node_modules/${name}/package.json`, { name, version: "0.0.0", license: own.license });
    write(`recalld/node_modules/${name}/index.js`, code);
  }
  // What the bundled packages load is npm's to fetch, in the versions that are tested.
  const needed = ["@huggingface/jinja", "@huggingface/tokenizers", "onnxruntime-common"].map((name) => [
    name,
    readJson(`node_modules/${name}/package.json`).version,
  ]);
  const bundled = Object.keys(standIns).map((name) => [name, "0.0.0"]);
  const { scripts, devDependencies, files, ...kept } = own;
  writeJson("recalld/package.json", {
    ...kept,
    dependencies: { ...own.dependencies, ...Object.fromEntries([...needed, ...bundled]) },
    optionalDependencies: Object.fromEntries(systems.map((system) => [nameOf(system), own.version])),
    bundleDependencies: ["@xenova/transformers", ...Object.keys(standIns)],
  });
}

/** Code of the package that stands in for onnxruntime-node: it loads the one of this system. */
function runtimeOfSystem() {
  return `const name = \`@recalld/onnxruntime-\${process.platform}-\${process.arch}\`;
try {
  module.exports = require(name);
} catch (error) {
  if (error.code !== "MODULE_NOT_FOUND") throw error;
  throw new Error(\`\${name} is not installed: npm install --include=optional adds it, where there is one for this system\`);
}
`;
}

/** The ONNX runtime for one system, as it is in onnxruntime-node. */
function stageRuntime({ platform, arch }) {
  const folder = folderOf({ platform, arch });
  for (const file of filesOf(ROOT, RUNTIME)) {
    const isBinary = file.startsWith(`${BINARIES}/`);
    const isOurs = isBinary
      ? file.startsWith(`${BINARIES}/${platform}/${arch}/`)
      : /\/dist\/.*\.js$/.test(file);
    if (isOurs && !SECOND_COPY.test(file)) copy(file, folder, file.slice(RUNTIME.length + 1));
  }
  copyFileSync(join(ROOT, "scripts/production/onnxruntime-license.txt"), join(TARGET, folder, "LICENSE"));
  writeJson(`${folder}/package.json`, {
    name: nameOf({ platform, arch }),
    version: own.version,
    description: `onnxruntime-node ${runtime.version} for ${platform} on ${arch}, without a script at install`,
    license: runtime.license,
    repository: own.repository,
    main: runtime.main,
    os: [platform],
    cpu: [arch],
    ...(platform === "linux" && { libc: ["glibc"] }),
    dependencies: { "onnxruntime-common": runtime.dependencies["onnxruntime-common"] },
  });
}

function nameOf(system) {
  return `@recalld/${folderOf(system)}`;
}

function folderOf({ platform, arch }) {
  return `onnxruntime-${platform}-${arch}`;
}

function pack(folder) {
  const args = ["pack", `./${folder}`, "--json", "--ignore-scripts"];
  const options = { cwd: TARGET, encoding: "utf8", maxBuffer: NPM_ANSWER_BYTES_MAX };
  const [{ filename, size }] = JSON.parse(execFileSync("npm", args, options));
  console.log(`${(size / 1e6).toFixed(1).padStart(5)} MB  ${join(TARGET, filename)}`);
}

function copy(file, folder, path) {
  const to = join(TARGET, folder, path);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(ROOT, file), to);
}

function write(path, content) {
  const to = join(TARGET, path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, content);
}

function writeJson(path, value) {
  write(path, `${JSON.stringify(value, null, 2)}\n`);
}

function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}
