import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Of a repository, as `npm ci` installed them. */
export function openPackages(root) {
  const { dependencies } = readJson(join(root, "package.json"));
  const { packages } = readJson(join(root, "node_modules/.package-lock.json"));
  return {
    /** The names that package.json has for a server. */
    dependencies: Object.keys(dependencies),
    /**
     * The folders, such as `node_modules/pino`, of these packages and of all that they need; of those in
     * `except` nothing, nor what only they need.
     */
    reachable: (names, except = []) => reachable({ packages, names, except: new Set(except) }),
    /** Such as `pino@10.4.0`, under the name that the registry has. */
    identity: (folder) => identity(packages[folder], folder),
  };
}

function reachable({ packages, names, except }) {
  const found = new Set();
  const waiting = names.map((name) => ({ name, from: "" }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = except.has(next.name) ? undefined : resolve(packages, next);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const { dependencies, optionalDependencies, peerDependencies } = packages[folder];
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      waiting.push({ name, from: folder });
    }
  }
  return found;
}

/** As Node looks for it: in the package's own folder, then in each above. Optional ones may be nowhere. */
function resolve(packages, { name, from }) {
  const folder = `${from && `${from}/`}node_modules/${name}`;
  if (packages[folder] !== undefined) return folder;
  return from === "" ? undefined : resolve(packages, { name, from: above(from) });
}

/** The package in whose folder this one lies; empty for the root. */
const above = (folder) => folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")));

const identity = ({ name, version }, folder) => `${name ?? folder.split("node_modules/").at(-1)}@${version}`;

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
