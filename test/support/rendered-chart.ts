import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reasonToSkip, render, type Values, workloadOf } from "./chart.js";

/** The repository's root. */
export const ROOT = join(import.meta.dirname, "../..");
export const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
export const constant = (path: string, name: string) =>
  Number(new RegExp(`const ${name} = ([\\d_]+);`).exec(read(path))?.[1]?.replaceAll("_", ""));
export const MIB = 1_048_576;

/** Settings that the chart sets itself, or by a separate value. */
export const MANAGED = [
  "PORT",
  "HOST",
  "DATA_DIR",
  "MONGODB_URI",
  "PLANS_FILE",
  "TLS_CERT",
  "TLS_KEY",
  "METRICS_PORT",
];
/** Everything that can be combined. The Service's port differs from the pods'. */
export const EVERYTHING: Values = {
  examples: ["mongodb", "autoscaling", "gateway", "monitoring", "ingress-nginx", "plans"],
  set: { service: { port: 80 } },
};
export const WITH_TLS: Values = { examples: ["mongodb", "monitoring", "plans", "tls"] };

export const dockerfile = read("Dockerfile");
/** The objects of `EVERYTHING`; empty where there is no Helm. */
export const objects = reasonToSkip ? [] : render(EVERYTHING);
export const { workload, pod, container, env } = reasonToSkip
  ? ({} as ReturnType<typeof workloadOf>)
  : workloadOf(objects);
/** Lists the objects of a kind. */
export const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
/** Number of the container port with this name. */
export const portNamed = (name: string) =>
  container.ports.find((port: { name: string }) => port.name === name)?.containerPort;
