// node scripts/pack-client.js: builds @recalld/client and packs it into dist/web, from where the quick start installs it.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "recalld-client-"));
try {
  run(process.execPath, ["scripts/build-client.js"]);
  const said = run("npm", ["pack", "./clients/typescript", "--json", "--pack-destination", folder]);
  const [{ filename }] = JSON.parse(said);
  // A name without a version: the server has the client of its own version.
  copyFileSync(join(folder, filename), "dist/web/recalld-client.tgz");
} finally {
  rmSync(folder, { recursive: true });
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}
