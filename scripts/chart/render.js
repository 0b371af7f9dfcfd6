// node scripts/chart/render.js [--check]: writes what is made from the chart, the plain manifests in
// deploy/kubernetes and the table of values in the chart's README; or says whether they are fresh.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";

const CHART = "deploy/helm/recalld";
/** Each from its values; all else is at the chart's defaults. */
const MANIFESTS = { embedded: [], mongodb: ["mongodb"], "mongodb-community": ["mongodb-community"] };
const MARKS = ["<!-- Values: written by scripts/chart/render.js -->", "<!-- End of the values. -->"];

const read = (path) => readFileSync(path, "utf8");

/** Objects for kubectl: Helm has no part in them. */
function manifest(examples) {
  const values = examples.flatMap((each) => ["--values", `${CHART}/examples/${each}.yaml`]);
  const args = ["template", "recalld", CHART, "--kube-version", "1.37.0", "--no-hooks", ...values];
  const helm = process.env.HELM ?? "helm";
  const rendered = execFileSync(helm, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const lines = rendered
    .split("\n")
    .filter((line) => !/^# Source: |^ +(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): /.test(line));
  return `# Written by scripts/chart/render.js from ${CHART}${examples.map((each) => `, examples/${each}.yaml`).join("")}\n${lines.join("\n")}`;
}

/** Each value that has no parts of its own: its path, its default, and what the schema says of it. */
function leaves(schema, values, path = []) {
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const value = values?.[name];
    if (property.properties !== undefined && name !== "settings")
      return leaves(property, value, [...path, name]);
    return value === undefined
      ? []
      : [{ path: [...path, name].join("."), value, means: property.description }];
  });
}

function table() {
  const rows = leaves(
    JSON.parse(read(`${CHART}/values.schema.json`)),
    parse(read(`${CHART}/values.yaml`)),
  ).map(({ path, value, means }) => [`\`${path}\``, `\`${JSON.stringify(value)}\``, means]);
  const all = [["Value", "Default", "Meaning"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column].length)));
  const line = (cells) => `| ${cells.map((cell, n) => cell.padEnd(widths[n])).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return [line(all[0]), rule, ...rows.map(line)].join("\n");
}

function readme() {
  const text = read(`${CHART}/README.md`);
  const [before, rest] = text.split(MARKS[0]);
  const [, after] = rest.split(MARKS[1]);
  return `${before}${MARKS[0]}\n\n${table()}\n\n${MARKS[1]}${after}`;
}

const made = [
  [`${CHART}/README.md`, readme()],
  ...Object.entries(MANIFESTS).map(([name, examples]) => [
    `deploy/kubernetes/${name}.yaml`,
    manifest(examples),
  ]),
];
if (process.argv[2] === "--check") {
  const stale = made.filter(([path, text]) => read(path) !== text).map(([path]) => path);
  for (const path of stale) console.error(`${path} is not fresh: HELM=… node scripts/chart/render.js`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of made) writeFileSync(path, text);
}
