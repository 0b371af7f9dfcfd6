// node scripts/complete-lockfile.js, after `npm install`.
//
// npm leaves packages for other systems out of the lockfile when the registry at hand, such as a mirror,
// does not have them. `npm ci` then refuses the lockfile everywhere: "Missing: … from lock file". This
// writes them in. Without an integrity hash, which npm then takes from the registry that it installs from.
import { readFileSync, writeFileSync } from "node:fs";

const FILE = "package-lock.json";
const lock = JSON.parse(readFileSync(FILE, "utf8"));
const packages = new Map(Object.entries(lock.packages));

for (const [, parent] of [...packages]) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (packages.has(path)) continue;
    packages.set(path, { version, ...systemOf(name), ...(parent.dev && { dev: true }), optional: true });
    console.log(`${path}@${version}`);
  }
}

const sorted = [...packages].sort(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);

/** Such as `@biomejs/cli-linux-arm64-musl`. Without its system npm would install it on every one. */
function systemOf(name) {
  const [, os, cpu, libc] = /-(android|darwin|linux|win32)-(arm64|armv7|arm|x64)(-musl)?$/.exec(name) ?? [];
  if (os === undefined) throw new Error(`${name} does not tell its system: write it into ${FILE} by hand`);
  return { cpu: [cpu === "armv7" ? "arm" : cpu], ...(libc && { libc: ["musl"] }), os: [os] };
}
