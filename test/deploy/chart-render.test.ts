import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { CHART, HELM, helm, objectsIn, reasonToSkip, render, TOOLS, type Values } from "../support/chart.js";
import { KubernetesSchemas } from "../support/kubernetes-schemas.js";

// Helm is started again and again, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = join(import.meta.dirname, "../..");
const MONGODB = { kind: "mongodb", mongodb: { existingSecret: { name: "uri" } } };

const renderings: Readonly<Record<string, Values>> = {
  "the defaults": {},
  "MongoDB, scaled, behind a Gateway, watched": {
    examples: ["mongodb", "autoscaling", "gateway", "monitoring"],
  },
  "MongoDB and TLS up to the pods, watched": { examples: ["mongodb", "autoscaling", "monitoring", "tls"] },
  "TLS up to the pods behind nginx": {
    examples: ["tls", "ingress-nginx"],
    set: { ingress: { annotations: { "nginx.ingress.kubernetes.io/backend-protocol": "GRPCS" } } },
  },
  "TLS up to the pods behind Traefik": {
    examples: ["tls", "ingress-traefik"],
    set: { service: { annotations: { "traefik.ingress.kubernetes.io/service.serversscheme": "https" } } },
  },
  ...Object.fromEntries(
    readdirSync(join(CHART, "examples")).map((file) => {
      const name = file.replace(".yaml", "");
      return [`examples/${file}`, { examples: name === "autoscaling" ? ["mongodb", name] : [name] }];
    }),
  ),
  "MongoDB, one replica": { set: { database: MONGODB } },
  "MongoDB with volumes": { set: { database: MONGODB, replicaCount: 2, persistence: { enabled: true } } },
  "MongoDB and gRPC behind nginx": { examples: ["mongodb", "ingress-nginx", "monitoring"] },
  "MongoDB by the operator, scaled": { examples: ["mongodb-community", "autoscaling"] },
  "a service of the kind LoadBalancer": {
    set: {
      service: {
        type: "LoadBalancer",
        port: 443,
        annotations: { a: "b" },
        loadBalancerSourceRanges: ["192.0.2.0/24", "2001:db8::/32"],
      },
    },
  },
  "a service of the kind NodePort": {
    set: { service: { type: "NodePort", externalTrafficPolicy: "Local" } },
  },
  "an image by its digest, from a registry with a password": {
    set: { image: { digest: `sha256:${"0".repeat(64)}` }, imagePullSecrets: [{ name: "registry" }] },
  },
  "every setting": {
    set: {
      settings: {
        MODEL: "Xenova/all-MiniLM-L6-v2",
        MODELS_HUB: "https://hub.example.org",
        MODEL_QUERY_PREFIX: 'query: $(HOME) "\\n"',
        EMBED_WORKERS: 4,
        INDEX_MEMORY_BYTES_MAX: 1_000_000_000,
        FREE_CALLS: 0,
        DRAIN_NOTICE_MS: 30_000,
        SHUTDOWN_TIMEOUT_MS: 1,
      },
    },
  },
  "places, labels and volumes": {
    set: {
      nodeSelector: { "kubernetes.io/arch": "amd64" },
      tolerations: [{ key: "dedicated", operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      priorityClassName: "high",
      podLabels: { team: "memory" },
      podAnnotations: { note: "1" },
      extraVolumes: [{ name: "models", emptyDir: {} }],
      extraVolumeMounts: [{ name: "models", mountPath: "/models", readOnly: true }],
      extraEnv: [
        { name: "OTEL_EXPORTER_OTLP_HEADERS", valueFrom: { secretKeyRef: { name: "a", key: "b" } } },
      ],
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "DoNotSchedule" },
      ],
    },
  },
  "amounts as numbers, and room on the node": {
    set: {
      resources: {
        requests: { cpu: 2, memory: 2_000_000_000, "ephemeral-storage": "1Gi" },
        limits: { memory: 2_500_000_000, "ephemeral-storage": 10_737_418_240 },
      },
      workerMemory: 134_217_728,
      scratchSizeLimit: 5_000_000_000,
      database: MONGODB,
    },
  },
  "a volume whose size is a number": { set: { persistence: { size: 10_737_418_240 } } },
  "no policies, and no limits": {
    set: {
      networkPolicy: { enabled: false },
      podDisruptionBudget: { enabled: false },
      resources: { limits: null },
      database: MONGODB,
      replicaCount: 2,
    },
  },
  "policies that name who may come, and where it may go": {
    set: {
      networkPolicy: {
        from: [{ namespaceSelector: { matchLabels: { a: "b" } } }],
        extraEgress: [{ ports: [{ port: 4318, protocol: "TCP" }] }],
        mongodbPorts: [27017, 27018],
      },
      podDisruptionBudget: { maxUnavailable: "25%" },
      database: MONGODB,
      replicaCount: 4,
    },
  },
};

describe.skipIf(reasonToSkip)(`the chart${reasonToSkip}`, () => {
  const schemas = reasonToSkip
    ? []
    : KubernetesSchemas.versions(TOOLS).map((version) => ({
        version,
        schema: new KubernetesSchemas(TOOLS, version),
      }));

  test("is judged by two versions of Kubernetes, the oldest that it names being one", () => {
    const [, oldest] =
      /kubeVersion: ">=([\d.]+)-0"/.exec(readFileSync(join(CHART, "Chart.yaml"), "utf8")) ?? [];
    expect(schemas.length).toBeGreaterThan(1);
    expect(schemas.map(({ version }) => version)).toContain(`v${oldest}`);
  });

  test("asks for no version of Kubernetes, and so is the same for all", () => {
    const templates = readdirSync(join(CHART, "templates"), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(CHART, "templates", name), "utf8"));
    expect(templates.filter((text) => text.includes(".Capabilities"))).toEqual([]);
  });

  test("is rendered in a dozen ways at least", () => {
    expect(Object.keys(renderings).length).toBeGreaterThanOrEqual(12);
  });

  test.each(Object.entries(renderings))("passes `helm lint --strict`: %s", (_name, values) => {
    const { status, stdout, stderr } = helm("lint", values, ["--strict", "--kube-version", "1.37.0"]);
    expect(status, stdout + stderr).toBe(0);
  });

  test.each(Object.entries(renderings))("is right for every version of Kubernetes: %s", (_name, values) => {
    const objects = render(values);
    expect(objects.length).toBeGreaterThan(3);
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
    for (const { schema } of schemas) {
      expect(objects.flatMap((object) => schema.problems(object))).toEqual([]);
    }
  });

  test("what is wrong is found, in every version and in custom resources", () => {
    const objects = render({ examples: ["mongodb-community", "gateway", "monitoring"] });
    const spoilt = objects.map((object) => ({ ...object, spec: { ...object.spec, planted: 1 } }));
    for (const { schema } of schemas) {
      const blamed = spoilt.filter((object) => schema.problems(object).length > 0).map(({ kind }) => kind);
      expect(blamed).toEqual(objects.map(({ kind }) => kind));
      expect(blamed).toEqual(expect.arrayContaining(["MongoDBCommunity", "GRPCRoute", "ServiceMonitor"]));
    }
  });

  test("is what the plain manifests and the README's table are made of", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/chart/render.js", "--check"], {
      cwd: ROOT,
      encoding: "utf8",
      env: { ...process.env, HELM },
    });
    expect(stderr).not.toContain("is not fresh");
    expect(status, stderr).toBe(0);
  });

  test("deploy/stopped-pod.yaml is right", () => {
    const objects = objectsIn(readFileSync(join(ROOT, "deploy/stopped-pod.yaml"), "utf8"));
    expect(objects).toHaveLength(1);
    for (const { schema } of schemas)
      expect(objects.flatMap((object) => schema.problems(object))).toEqual([]);
  });

  test.each(readdirSync(join(ROOT, "deploy/kubernetes")))("deploy/kubernetes/%s is right", (file) => {
    const objects = objectsIn(readFileSync(join(ROOT, "deploy/kubernetes", file), "utf8"));
    expect(objects.length).toBeGreaterThan(3);
    for (const { schema } of schemas)
      expect(objects.flatMap((object) => schema.problems(object))).toEqual([]);
  });
});
