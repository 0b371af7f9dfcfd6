import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse, parseAllDocuments } from "yaml";

const ROOT = join(import.meta.dirname, "../..");
export const CHART = join(ROOT, "deploy/helm/recalld");

/** Folder in which `scripts/chart/tools.sh` puts Helm and the schemas. */
export const TOOLS = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "recalld/chart-1");
export const HELM = process.env.HELM || join(TOOLS, "helm");

/** Reason why the chart cannot be rendered here; empty if it can. */
export const reasonToSkip =
  existsSync(HELM) && existsSync(TOOLS) ? "" : " (skipped: no Helm; scripts/chart/tools.sh gets it)";
if (reasonToSkip && process.env.REQUIRE_HELM) throw new Error(`REQUIRE_HELM is set:${reasonToSkip}`);

/** A Kubernetes object, as far as the tests read it. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own, and the schemas judge it.
  readonly spec: any;
  readonly data?: Readonly<Record<string, string>>;
}

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

/** Values for the chart: names of its examples, and further values on top. */
export interface Values {
  readonly release?: string;
  readonly examples?: readonly string[];
  readonly set?: Readonly<Record<string, unknown>>;
}

/** Runs Helm on the chart. */
export function helm(
  command: "lint" | "template",
  { release = "recalld", examples = [], set = {} }: Values,
  more: string[] = [],
  chart = CHART,
) {
  const files = examples.flatMap((name) => ["--values", join(CHART, `examples/${name}.yaml`)]);
  const args = [...(command === "template" ? [release] : []), chart, ...files, "--values", "-", ...more];
  return spawnSync(HELM, [command, ...args], { encoding: "utf8", input: JSON.stringify(set) });
}

/** Renders the chart's objects for a version of Kubernetes. */
export function render(values: Values, kubernetes = "1.37.0"): KubernetesObject[] {
  const { status, stdout, stderr } = helm("template", values, ["--kube-version", kubernetes]);
  if (status !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

/**
 * Returns Helm's notes after an installation. Helm shows them only with a cluster, so this renders a chart
 * that has only the notes.
 */
export function notes(values: Values): string {
  const chart = join(mkdtempSync(join(tmpdir(), "recalld-notes-")), "recalld");
  try {
    cpSync(CHART, chart, {
      recursive: true,
      dereference: true,
      filter: (path) => !/templates\/.*\.yaml$/.test(path),
    });
    renameSync(join(chart, "templates/NOTES.txt"), join(chart, "NOTES.txt"));
    writeFileSync(
      join(chart, "templates/notes.yaml"),
      '{"notes": {{ tpl (.Files.Get "NOTES.txt") . | toJson }}}\n',
    );
    const { status, stdout, stderr } = helm("template", values, ["--kube-version", "1.37.0"], chart);
    if (status !== 0) throw new Error(stderr);
    return parse(stdout).notes;
  } finally {
    rmSync(dirname(chart), { recursive: true });
  }
}

export function objectsIn(yaml: string): KubernetesObject[] {
  return parseAllDocuments(yaml).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return (document.toJS() as KubernetesObject | null) ?? [];
  });
}

/** Returns Helm's message when it refuses values; fails when it does not. */
export function refusal(values: Values): string {
  const { status, stdout, stderr } = helm("template", values, ["--kube-version", "1.37.0"]);
  if (status === 0) throw new Error(`not refused:\n${stdout}`);
  return stderr;
}

export function workloadOf(objects: readonly KubernetesObject[]) {
  const [workload] = objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  if (workload === undefined) throw new Error("no workload");
  const { spec } = workload.spec.template;
  const [container] = spec.containers;
  const env: readonly Variable[] = container.env;
  const settings = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return { workload, pod: spec, container, env, settings };
}

export const values = parse(readFileSync(join(CHART, "values.yaml"), "utf8"));
export const schema = JSON.parse(readFileSync(join(CHART, "values.schema.json"), "utf8"));
