// node scripts/sbom.js [cyclonedx|spdx], after `npm ci`.
//
// Prints what `node scripts/production-tree.js` makes a server of: its packages, those that are bundled into
// its portal, as npm knows them from the lockfile, and the model. The system beneath and Node are the
// image's; `docker buildx build --sbom=true` lists those.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { openPackages } from "./production/packages.js";
import { LEFT_OUT, PORTAL } from "./production/rules.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WEIGHTS = "models/bundled/onnx/model_quantized.onnx";
const MODEL = "recalld-bundled-model";
const LICENSE = "Apache-2.0";
const NPM_ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const FORMATS = { cyclonedx, spdx };

const [format = "cyclonedx"] = argv.slice(2);
if (!(format in FORMATS)) {
  console.error(`usage: node scripts/sbom.js [${Object.keys(FORMATS).join("|")}]`);
  exit(1);
}
const packages = openPackages(ROOT);
const folders = [...packages.reachable(packages.dependencies, LEFT_OUT), ...packages.reachable(PORTAL)];
const shipped = new Set(folders.map(packages.identity));
const weightsSha256 = createHash("sha256")
  .update(readFileSync(join(ROOT, WEIGHTS)))
  .digest("hex");
console.log(JSON.stringify(FORMATS[format](askNpm()), null, 2));

/** Of every package in the lockfile: with `--omit=dev` npm 11 forgets those that tools need as well. */
function askNpm() {
  const args = ["sbom", "--package-lock-only", `--sbom-format=${format}`, "--sbom-type=application"];
  return JSON.parse(
    execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", maxBuffer: NPM_ANSWER_BYTES_MAX }),
  );
}

/** https://cyclonedx.org/docs/1.5/json/ */
function cyclonedx(bom) {
  const { component: program } = bom.metadata;
  const model = {
    "bom-ref": `${MODEL}@${program.version}`,
    type: "machine-learning-model",
    name: MODEL,
    version: program.version,
    licenses: [{ license: { id: LICENSE } }],
    hashes: [{ alg: "SHA-256", content: weightsSha256 }],
  };
  const components = [...bom.components.filter((each) => shipped.has(each["bom-ref"])), model];
  const refs = new Set([program, ...components].map((each) => each["bom-ref"]));
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  dependencies.find(({ ref }) => ref === program["bom-ref"]).dependsOn.push(model["bom-ref"]);
  return { ...bom, components, dependencies };
}

/** https://spdx.github.io/spdx-spec/v2.3/ */
function spdx(document) {
  const [program] = document.documentDescribes;
  const { versionInfo } = document.packages.find(({ SPDXID }) => SPDXID === program);
  const model = {
    name: MODEL,
    SPDXID: `SPDXRef-Model-${MODEL}`,
    versionInfo,
    packageFileName: WEIGHTS,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    licenseDeclared: LICENSE,
    checksums: [{ algorithm: "SHA256", checksumValue: weightsSha256 }],
  };
  const isShipped = ({ SPDXID, name, versionInfo }) =>
    SPDXID === program || shipped.has(`${name}@${versionInfo}`);
  const kept = [...document.packages.filter(isShipped), model];
  const ids = new Set([document.SPDXID, ...kept.map(({ SPDXID }) => SPDXID)]);
  const relationships = document.relationships.filter(
    ({ spdxElementId, relatedSpdxElement }) => ids.has(spdxElementId) && ids.has(relatedSpdxElement),
  );
  relationships.push({
    spdxElementId: model.SPDXID,
    relatedSpdxElement: program,
    relationshipType: "DEPENDENCY_OF",
  });
  return { ...document, packages: kept, relationships };
}
