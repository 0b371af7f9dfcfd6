// node scripts/build-mcpb.js: puts into dist/mcpb what a desktop app needs to speak to a recalld server. The
// program is one file. `npx @anthropic-ai/mcpb pack dist/mcpb recalld.mcpb` makes the bundle of it.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDER = `${ROOT}/dist/mcpb`;

rmSync(FOLDER, { recursive: true, force: true });
await build({
  root: ROOT,
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true },
  build: {
    ssr: `${ROOT}/dist/cli/mcp/bundled.js`,
    outDir: `${FOLDER}/server`,
    target: "node20",
    copyPublicDir: false,
    license: { fileName: "licenses.md" },
    rolldownOptions: { output: { entryFileNames: "index.mjs", codeSplitting: false } },
  },
});
cpSync(`${ROOT}/deploy/mcpb/manifest.json`, `${FOLDER}/manifest.json`);
cpSync(`${ROOT}/LICENSE`, `${FOLDER}/LICENSE`);
