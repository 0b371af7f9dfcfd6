import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { UNLIMITED_CALLS } from "../../src/accounts/plan.js";
import { parsePlans } from "../../src/accounts/plans-file.js";
import { loadConfig } from "../../src/config.js";
import { SETTINGS } from "../../src/settings.js";
import { signUp } from "../support/caller.js";
import {
  CHART,
  notes,
  objectsIn,
  reasonToSkip,
  render,
  schema,
  type Values,
  values,
  workloadOf,
} from "../support/chart.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import { scrape } from "../support/scrape.js";
import { startServer, type TestServer } from "../support/server.js";

// Whatever the chart says of the program, held against the program. Servers start here.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const constant = (path: string, name: string) =>
  Number(new RegExp(`const ${name} = ([\\d_]+);`).exec(read(path))?.[1]?.replaceAll("_", ""));
const MIB = 1_048_576;

/** What the chart sets by itself, or by a value of its own. */
const MANAGED = [
  "PORT",
  "HOST",
  "DATA_DIR",
  "MONGODB_URI",
  "PLANS_FILE",
  "TLS_CERT",
  "TLS_KEY",
  "METRICS_PORT",
];
/** All that goes together; the Service's port is not the pods'. */
const EVERYTHING: Values = {
  examples: ["mongodb", "autoscaling", "gateway", "monitoring", "ingress-nginx", "plans"],
  set: { service: { port: 80 } },
};
const WITH_TLS: Values = { examples: ["mongodb", "monitoring", "plans", "tls"] };

describe("the chart's settings", () => {
  const { properties } = schema.properties.settings;
  const accepts = (name: string, value: unknown) => {
    try {
      loadConfig({ [name]: String(value) });
      return true;
    } catch {
      return false;
    }
  };

  test("are all that there are, but for what the chart sets itself", () => {
    expect(Object.keys(properties)).toEqual(SETTINGS.filter((name) => !MANAGED.includes(name)));
  });

  const ranges = Object.entries<{ type?: string; minimum?: number; maximum?: number }>(properties).filter(
    ([, { type }]) => type === "integer",
  );
  test.each(ranges)(
    "have the program's range for %s",
    (name, { minimum = Number.NaN, maximum = Number.NaN }) => {
      expect([minimum - 1, minimum, maximum].map((value) => accepts(name, value))).toEqual([
        false,
        true,
        true,
      ]);
      if (maximum < Number.MAX_SAFE_INTEGER) expect(accepts(name, maximum + 1)).toBe(false);
    },
  );

  const choices = Object.entries<{ enum?: string[] }>(properties).filter(([, each]) => each.enum);
  test.each(choices)("have the program's choices for %s", (name, each) => {
    const said = () => loadConfig({ [name]: "?" });
    expect(said).toThrow(`one of ${each.enum?.join(", ")}`);
  });

  test("other values are known to the schema, and all of the schema are there", () => {
    // biome-ignore lint/suspicious/noExplicitAny: a tree of any depth.
    const paths = (of: any, at = ""): string[] =>
      Object.entries<never>(of).flatMap(([name, value]) =>
        typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
          ? paths(value, `${at}${name}.`)
          : [`${at}${name}`],
      );
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    const leaves = (of: any, at = ""): string[] =>
      Object.entries<Record<string, unknown>>(of.properties).flatMap(([name, each]) =>
        each.properties ? leaves(each, `${at}${name}.`) : [`${at}${name}`],
      );
    const outer = (all: string[]) =>
      all
        .filter(
          (path) =>
            !/^settings\.|^global$|^plans|dashboard\.labels|limits\.cpu$|ephemeral-storage$|mongodb.*resources/.test(
              path,
            ),
        )
        .sort();
    expect(outer(paths(values))).toEqual(outer(leaves(schema)));
  });
});

describe.skipIf(reasonToSkip)(`what the chart makes${reasonToSkip}`, () => {
  const dockerfile = read("Dockerfile");
  const objects = reasonToSkip ? [] : render(EVERYTHING);
  const { workload, pod, container, env } = reasonToSkip
    ? ({} as ReturnType<typeof workloadOf>)
    : workloadOf(objects);
  const of = (kind: string) => objects.filter((object) => object.kind === kind);
  const portNamed = (name: string) =>
    container.ports.find((port: { name: string }) => port.name === name)?.containerPort;

  test("is of the program's version", () => {
    const { version, appVersion } = parse(readFileSync(join(CHART, "Chart.yaml"), "utf8"));
    const program = JSON.parse(read("package.json"));
    expect([version, appVersion]).toEqual([program.version, program.version]);
    expect(container.image).toBe(`recalld:${program.version}`);
  });

  test("is what the image is: its user, its port, its folder", () => {
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? [];
    expect(pod.securityContext).toMatchObject({ runAsUser: Number(user), runAsGroup: Number(group) });
    expect(pod.securityContext.fsGroup).toBe(Number(group));
    const [, port] = /^EXPOSE (\d+)$/m.exec(dockerfile) ?? [];
    expect(portNamed("http")).toBe(Number(port));
    const [, volume] = /^VOLUME (\S+)$/m.exec(dockerfile) ?? [];
    expect(container.volumeMounts[0]).toEqual({ name: "data", mountPath: volume });
  });

  test("leaves its user and the ports of DNS to the cluster, where it is told to", () => {
    const objects = render({ examples: ["openshift"] });
    const policy = objects.find(({ kind }) => kind === "NetworkPolicy");
    expect(policy?.spec.egress[0].ports.map(({ port }: { port: number }) => port)).toEqual([5353, 5353]);
    for (const { securityContext } of [
      workloadOf(objects).pod,
      objects.find(({ kind }) => kind === "Pod")?.spec,
    ]) {
      expect(
        Object.keys(securityContext).filter((name) => /runAs(User|Group)$|^fsGroup$/.test(name)),
      ).toEqual([]);
      expect(securityContext.runAsNonRoot).toBe(true);
    }
  });

  test("has no rights", () => {
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    for (const each of [container, of("Pod")[0]?.spec.containers[0]]) {
      expect(each.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  test("sets what the program knows, once, as it is meant", () => {
    const settings = { TRUSTED_PROXIES: "10.244.0.0/16" };
    const { env } = workloadOf(render({ ...WITH_TLS, set: { settings } }));
    const names = env.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names.filter((name) => !(SETTINGS as readonly string[]).includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(MANAGED));
    // With what every pod has, from Kubernetes itself.
    const given = {
      KUBERNETES_SERVICE_HOST: "10.0.0.1",
      KUBERNETES_PORT: "tcp://10.0.0.1:443",
      HOSTNAME: "r",
    };
    const set = Object.fromEntries(env.map(({ name, value }) => [name, value ?? "mongodb://host"]));
    expect(loadConfig({ ...given, ...set })).toMatchObject({
      port: portNamed("http"),
      metricsPort: portNamed("metrics"),
      dataDir: container.volumeMounts[0].mountPath,
      host: "0.0.0.0",
      signUp: "closed",
      trustedProxies: ["10.244.0.0/16"],
      tls: { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" },
    });
  });

  test("passes settings on as they are written", () => {
    const settings = {
      MODEL_QUERY_PREFIX: 'a "b" $(HOME) \\n',
      INDEX_MEMORY_BYTES_MAX: 1_234_567_890,
      FREE_CALLS: 2_000_000_000,
      SIGNUP: "closed",
    };
    const set = workloadOf(render({ set: { settings } })).settings;
    // Of $$( Kubernetes makes $(, and puts no variable in its place.
    expect(set.MODEL_QUERY_PREFIX?.replaceAll("$$(", "$(")).toBe(settings.MODEL_QUERY_PREFIX);
    const { indexMemoryBytesMax, freeCalls } = loadConfig(set);
    expect([indexMemoryBytesMax, freeCalls]).toEqual([settings.INDEX_MEMORY_BYTES_MAX, settings.FREE_CALLS]);
  });

  test("gives the program the file of plans that it names, and again when they change", () => {
    const [file] = of("ConfigMap").filter(({ metadata }) => metadata.name === "recalld-plans");
    const [name = "", text = ""] = Object.entries(file?.data ?? {})[0] ?? [];
    const mount = container.volumeMounts.find((each: { name: string }) => each.name === "plans");
    expect(env).toContainEqual({ name: "PLANS_FILE", value: `${mount.mountPath}/${name}` });
    expect(pod.volumes).toContainEqual({ name: "plans", configMap: { name: file?.metadata.name } });
    const plans = parsePlans(text, "plans.json");
    expect(plans.get("team")).toMatchObject({ calls: 1_000_000, rate: { perSecond: 100, burst: 100 } });
    expect(plans.get("internal").calls).toBe(UNLIMITED_CALLS);
    const annotations = (calls: number) =>
      workloadOf(render({ set: { plans: { free: { calls } } } })).workload.spec.template.metadata.annotations;
    expect(annotations(1)).not.toEqual(annotations(2));
  });

  test("takes its connection string from a secret, as the operator names it or as it is told to", () => {
    const from = (values: Values) =>
      workloadOf(render(values)).env.find(({ name }) => name === "MONGODB_URI")?.valueFrom?.secretKeyRef;
    expect(from({})).toBeUndefined();
    expect(from({ examples: ["mongodb"] })).toEqual({ name: "recalld-mongodb", key: "MONGODB_URI" });
    const [resource] = render({ examples: ["mongodb-community"] }).filter(
      ({ kind }) => kind === "MongoDBCommunity",
    );
    const [user] = resource?.spec.users ?? [];
    expect(from({ examples: ["mongodb-community"] })).toEqual({
      name: user.connectionStringSecretName,
      key: "connectionString.standard",
    });
    // The program keeps its data in the database of the string's path, which is the user's.
    expect(user.roles).toEqual([{ name: "readWrite", db: user.db }]);
  });

  test("asks the operator for a MongoDB with memory, and as it is told", () => {
    const mongod = (community: object) =>
      render({
        examples: ["mongodb-community"],
        set: { database: { mongodb: { community } } },
      }).find(({ kind }) => kind === "MongoDBCommunity")?.spec.statefulSet.spec.template?.spec.containers;
    const { resources } = values.database.mongodb.community;
    expect(mongod({})).toEqual([{ name: "mongod", resources }]);
    expect(mongod({ resources: { limits: { memory: "8Gi" } } })).toMatchObject([
      { resources: { limits: { memory: "8Gi" } } },
    ]);
    expect(mongod({ resources: null })).toBeUndefined();
  });

  test.each([
    {},
    { DRAIN_NOTICE_MS: 30_000 },
    { DRAIN_NOTICE_MS: 0, SHUTDOWN_TIMEOUT_MS: 0 },
    { SHUTDOWN_TIMEOUT_MS: 600_000 },
  ])("gives the program the time to end that it takes with %j", (settings) => {
    const { pod, settings: set } = workloadOf(render({ set: { settings } }));
    const { drainNoticeMs, shutdownTimeoutMs } = loadConfig(set);
    const neededMs =
      drainNoticeMs +
      shutdownTimeoutMs +
      constant("src/server/port/drain.ts", "LAST_ANSWERS_MS") +
      constant("src/compose.ts", "CLOSE_TIMEOUT_MS");
    expect(neededMs).toBeGreaterThan(30_000);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(neededMs);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeLessThan(neededMs + 20_000);
  });

  test("gives a start the time that an embedding thread may take, and a minute before it is begun anew", () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const seconds = (probe: typeof startupProbe) => probe.periodSeconds * probe.failureThreshold;
    expect(seconds(startupProbe) * 1000).toBeGreaterThan(
      constant("src/embedding/pool/thread.ts", "START_TIMEOUT_MS"),
    );
    expect(seconds(livenessProbe)).toBeGreaterThanOrEqual(60);
    // Endpoints change sooner than the notice ends.
    expect(seconds(readinessProbe) * 1000).toBeLessThan(loadConfig({}).drainNoticeMs);
  });

  test("leaves indexes the memory that is left, half of it for one that is built anew", () => {
    const indexMemory = (set: object) =>
      loadConfig(workloadOf(render({ set: { ...set } })).settings).indexMemoryBytesMax;
    const limits = (memory: string | number) => ({ resources: { limits: { memory } } });
    const connections = loadConfig({}).connectionsMax * 20_000;
    const left = (bytes: number, workers = 1) =>
      Math.floor((bytes - (192 + workers * 128) * MIB - connections) / 2);
    expect(indexMemory({})).toBe(left(1536 * MIB));
    expect(read("docs/kubernetes.md")).toContain(
      `\`INDEX_MEMORY_BYTES_MAX\` ${Math.round(indexMemory({}) / 1e6)} MB`,
    );
    expect(indexMemory(limits("4Gi"))).toBe(left(4096 * MIB));
    for (const memory of ["2500M", "2500000000", 2_500_000_000]) {
      expect(indexMemory(limits(memory))).toBe(left(2_500_000_000));
    }
    expect(indexMemory({ settings: { EMBED_WORKERS: 4 } })).toBe(left(1536 * MIB, 4));
    expect(indexMemory({ settings: { CONNECTIONS_MAX: 20 } })).toBe(left(1536 * MIB + connections - 400_000));
    expect(indexMemory({ resources: { limits: null } })).toBe(loadConfig({}).indexMemoryBytesMax);
  });

  test("leaves snapshots twice the room that indexes have, and a model a GiB, before the pod is evicted", () => {
    const sizeLimit = (set: object) =>
      workloadOf(render({ examples: ["mongodb"], set: { ...set } })).pod.volumes[0].emptyDir.sizeLimit;
    const room = (indexBytes: number) => `${Math.ceil((2 * indexBytes) / MIB) + 1024}Mi`;
    const ofMemory = (memory: string | null) => ({ resources: { limits: memory && { memory } } });
    const budget = (set: object) =>
      loadConfig(workloadOf(render({ set: { ...set } })).settings).indexMemoryBytesMax;
    for (const set of [{}, ofMemory("16Gi"), ofMemory(null), { settings: { INDEX_MEMORY_BYTES_MAX: 1e9 } }]) {
      expect(sizeLimit(set)).toBe(room(budget(set)));
    }
    expect(sizeLimit(ofMemory("16Gi"))).not.toBe(sizeLimit({}));
    expect(sizeLimit({ scratchSizeLimit: "20Gi" })).toBe("20Gi");
  });

  test("sends to the pods, and to nothing else", () => {
    const labels = workload.spec.template.metadata.labels;
    const asked = objects.flatMap(({ kind, spec }) => {
      if (kind === "Service") return spec.selector;
      return spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels ?? [];
    });
    const monitor = of("ServiceMonitor")[0]?.spec.selector.matchLabels;
    const pods = asked.filter((selector) => selector !== monitor);
    expect(pods.length).toBeGreaterThanOrEqual(6);
    for (const selector of pods) {
      expect(labels).toMatchObject(selector);
      expect(of("Pod")[0]?.metadata.labels).not.toMatchObject(selector);
    }
    expect(of("Service").filter(({ metadata }) => holds(metadata.labels, monitor))).toHaveLength(1);
    for (const constraint of pod.topologySpreadConstraints) {
      expect(labels).toMatchObject(constraint.labelSelector.matchLabels);
    }
  });

  test("names ports that there are", () => {
    const ports = of("Service").flatMap(({ spec }) => spec.ports);
    expect(ports.length).toBeGreaterThanOrEqual(3);
    expect(ports.filter(({ targetPort }) => portNamed(targetPort) === undefined)).toEqual([]);
    const [service] = of("Service").filter(({ metadata }) => metadata.name === "recalld");
    const backends = [...of("HTTPRoute"), ...of("GRPCRoute")].flatMap(({ spec }) =>
      spec.rules.flatMap((rule: { backendRefs: object[] }) => rule.backendRefs),
    );
    expect(backends).toHaveLength(2);
    for (const backend of backends)
      expect(backend).toEqual({ name: "recalld", port: service?.spec.ports[0].port });
    const [, timeout] = /^(\d+)s$/.exec(of("HTTPRoute")[0]?.spec.rules[0].timeouts.request) ?? [];
    expect(Number(timeout) * 1000).toBeGreaterThan(constant("src/server/rpc/deadline.ts", "CALL_TIMEOUT_MS"));
    for (const { spec } of of("Ingress")) {
      expect(spec.rules[0].http.paths[0].backend.service).toEqual({
        name: "recalld",
        port: { name: "http" },
      });
    }
    for (const { port } of of("ServiceMonitor")[0]?.spec.endpoints ?? []) {
      expect(ports.map(({ name }) => name)).toContain(port);
    }
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const asked = [startupProbe, livenessProbe, readinessProbe].map((probe) => portNamed(probe.httpGet.port));
    expect(asked).toEqual([8080, 9464, 8080]);
  });

  test("asks whether a pod lives where callers cannot take all connections, if there is such a port", () => {
    const asked = (values: Values) => {
      const { livenessProbe, readinessProbe } = workloadOf(render(values)).container;
      return [livenessProbe, readinessProbe].map(({ httpGet }) => [httpGet.port, httpGet.scheme ?? "HTTP"]);
    };
    const metrics = { set: { metrics: { enabled: true } } };
    expect(asked(metrics)).toEqual([
      ["metrics", "HTTP"],
      ["http", "HTTP"],
    ]);
    expect(asked({ ...WITH_TLS, set: { ...WITH_TLS.set, ...metrics.set } })).toEqual([
      ["metrics", "HTTP"],
      ["http", "HTTPS"],
    ]);
  });

  test.each<Values>([{ examples: ["mongodb"] }, { examples: ["mongodb", "autoscaling"] }, {}])(
    "has a name that lists the pods that are ready, and those alone: %j",
    (values) => {
      const objects = render(values);
      const [pods] = objects.filter(
        ({ kind, metadata }) => kind === "Service" && metadata.name === "recalld-pods",
      );
      expect(pods?.spec).toMatchObject({ clusterIP: "None", ports: [{ port: 8080, targetPort: "http" }] });
      expect(pods?.spec.publishNotReadyAddresses).toBeUndefined();
      expect(workloadOf(objects).workload.spec.serviceName ?? "recalld-pods").toBe("recalld-pods");
    },
  );

  test("keeps callers' addresses behind a load balancer, whose limits are those of each address", () => {
    const policy = (service: object) =>
      render({ set: { service } }).find(({ kind }) => kind === "Service")?.spec.externalTrafficPolicy;
    expect(policy({ type: "LoadBalancer" })).toBe("Local");
    expect(policy({ type: "LoadBalancer", externalTrafficPolicy: "Cluster" })).toBe("Cluster");
    expect([policy({}), policy({ type: "NodePort" })]).toEqual([undefined, undefined]);
  });

  test("speaks TLS wherever the pods do, and nowhere else", () => {
    const spoken = (values: Values) => {
      const objects = render(values);
      const { container } = workloadOf(objects);
      const [service] = objects.filter(({ kind }) => kind === "Service");
      const asked = objects.find(({ kind }) => kind === "Pod")?.spec.containers[0].env[0].value;
      return {
        probes: ["startupProbe", "livenessProbe", "readinessProbe"].map(
          (probe) => container[probe].httpGet.scheme ?? "HTTP",
        ),
        service: service?.spec.ports[0].appProtocol,
        asked: new URL(asked).protocol,
      };
    };
    expect(spoken({})).toEqual({
      probes: ["HTTP", "HTTP", "HTTP"],
      service: "kubernetes.io/h2c",
      asked: "http:",
    });
    expect(spoken(WITH_TLS)).toEqual({
      // On the port of the metrics, which has no TLS, liveness.
      probes: ["HTTPS", "HTTP", "HTTPS"],
      service: "https",
      asked: "https:",
    });
  });

  test("lets nobody scrape but who may, and lets out what is needed", () => {
    const { ingress, egress } = of("NetworkPolicy")[0]?.spec ?? {};
    const rule = (name: string) =>
      ingress.find(({ ports }: { ports: { port: string }[] }) => ports[0]?.port === name);
    expect(rule("http").from).toBeUndefined();
    expect(rule("metrics").from).toEqual([
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } },
    ]);
    const out = (rules: { ports: { port: number }[] }[]) =>
      rules.flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(out(egress)).toEqual([53, 53, 27017]);
    const policy = (settings: object) =>
      render({ set: { settings } }).find(({ kind }) => kind === "NetworkPolicy")?.spec;
    expect(out(policy({ MODEL: "a/b" }).egress)).toEqual([53, 53, 443]);
    expect(policy({}).ingress).toHaveLength(1);
    const mirrored = {
      MODEL: "a/b",
      MODELS_HUB: "http://mirror",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel:4318",
    };
    expect(out(policy(mirrored).egress)).toEqual([53, 53, 80, 4318]);
  });

  test("keeps the memories when it is uninstalled, and a volume for them alone where it must", () => {
    const stateful = (values: Values) => workloadOf(render(values)).workload;
    expect(stateful({}).spec.persistentVolumeClaimRetentionPolicy.whenDeleted).toBe("Retain");
    expect(stateful({ examples: ["mongodb", "autoscaling"] }).kind).toBe("StatefulSet");
    const deployment = stateful({ examples: ["mongodb"] });
    expect(deployment.kind).toBe("Deployment");
    expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    const [database] = render({ examples: ["mongodb-community"] }).filter(
      ({ kind }) => kind === "MongoDBCommunity",
    );
    expect(database?.metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
  });

  test("leaves its volumes to deploy/stopped-pod.yaml, which runs as its pods do", () => {
    const [stopped] = objectsIn(read("deploy/stopped-pod.yaml"));
    const { pod, container, workload } = workloadOf(render({ examples: ["backup"] }));
    const [ours] = stopped?.spec.containers ?? [];
    expect(stopped?.spec.securityContext).toEqual(pod.securityContext);
    for (const name of ["image", "securityContext", "volumeMounts"])
      expect(ours[name]).toEqual(container[name]);
    const [{ metadata }] = workload.spec.volumeClaimTemplates;
    const data = { claimName: `${metadata.name}-${workload.metadata.name}-0` };
    expect(stopped?.spec.volumes).toEqual([{ name: "data", persistentVolumeClaim: data }, ...pod.volumes]);
  });

  test("adds and takes away one pod at a time when it scales", () => {
    const [scaler] = of("HorizontalPodAutoscaler");
    for (const way of ["scaleUp", "scaleDown"]) {
      expect(scaler?.spec.behavior[way].policies).toMatchObject([{ type: "Pods", value: 1 }]);
    }
  });

  test("tells afterwards how to reach what it has made, by commands that there are", () => {
    for (const values of [{}, { examples: ["mongodb"] }]) {
      const { workload } = workloadOf(render(values));
      expect(notes(values)).toContain(
        `rollout status ${workload.kind.toLowerCase()}/${workload.metadata.name}`,
      );
    }
    expect(notes({})).toContain("port-forward service/recalld 8080:8080");
    expect(notes({})).toContain("Anybody who reaches it may sign up");
    const closed = notes({ examples: ["mongodb", "gateway"] });
    expect(closed).toContain("gRPC at grpc.recalld.example.org");
    const [, command] = /-- recalld-admin (\w+ \w+)/.exec(closed) ?? [];
    const [, program = ""] = /ln -s \/app\/(\S+) \/usr\/local\/bin\/recalld-admin/.exec(dockerfile) ?? [];
    const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, program), "--help"], {
      encoding: "utf8",
    });
    expect(stdout + stderr).toMatch(new RegExp(`^ +${command} `, "m"));
    expect(notes({ set: { ingress: { enabled: true, host: "a.example.org" } } })).toContain(
      "TRUSTED_PROXIES",
    );
    expect(notes({ examples: ["ingress-nginx"] })).not.toContain("TRUSTED_PROXIES");
  });

  test("has the alerts and the dashboard as they are tested elsewhere", () => {
    expect(of("PrometheusRule")[0]?.spec).toEqual(parse(read("deploy/prometheus/alerts.yaml")));
    const dashboard = of("ConfigMap")[0]?.data?.["recalld.json"] ?? "";
    expect(JSON.parse(dashboard)).toEqual(JSON.parse(read("deploy/grafana/recalld.json")));
  });

  test("has ingress-nginx do what its own example has", () => {
    const examples = parseAllDocuments(read("deploy/ingress-nginx/recalld.yaml")).map((each) => each.toJS());
    for (const { metadata } of examples) {
      const ours = of("Ingress").find((each) => each.metadata.name === metadata.name);
      expect(ours?.metadata.annotations).toEqual(metadata.annotations);
    }
    expect(examples).toHaveLength(of("Ingress").length);
  });

  describe("a server, started with its settings", () => {
    let server: TestServer;
    const { settings, container } = reasonToSkip
      ? ({} as ReturnType<typeof workloadOf>)
      : workloadOf(render({ examples: ["monitoring"] }));
    const path = (probe: string) => container[probe].httpGet.path as string;
    const ask = async (probe: string) => {
      const base = container[probe].httpGet.port === "metrics" ? server.metricsUrl : server.url;
      return (await fetch(new URL(path(probe), base))).status;
    };

    beforeAll(async () => {
      const { DATA_DIR: _, ...env } = settings as Record<string, string>;
      server = await startServer({ env: { ...env, PORT: "0", METRICS_PORT: "0", EMBED_WORKERS: "3" } });
    });
    afterAll(() => server.kill());

    test("answers every probe", async () => {
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
        await expect.poll(() => ask(probe), { timeout: 30_000 }).toBe(200);
      }
    });

    test("is scraped where the monitor looks", async () => {
      const [endpoint] = of("ServiceMonitor")[0]?.spec.endpoints ?? [];
      const found = await scrape(new URL(endpoint.path, server.metricsUrl).href);
      expect(found.sum("recalld_ready")).toBe(1);
    });

    test("speaks HTTP/2 without TLS on the port of HTTP/1.1, as appProtocol says", async () => {
      const [service] = render({}).filter(({ kind }) => kind === "Service");
      expect(service?.spec.ports[0].appProtocol).toBe("kubernetes.io/h2c");
      const session = connect(server.url);
      const [headers] = await once(session.request({ ":path": path("readinessProbe") }).end(), "response");
      expect(headers[":status"]).toBe(200);
      session.destroy();
    });

    test("stays within the memory that is set aside for it and its embedding threads", async () => {
      const caller = await signUp(server.url);
      const text = (n: number) => `${n} The cat sleeps on the sofa, and rain falls on the roof. `.repeat(20);
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => caller.store({ namespace: "memory", text: text(n) })),
      );
      const [, kilobytes] =
        /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8")) ?? [];
      expect(Number(kilobytes) * 1024).toBeLessThan((192 + 3 * 128) * MIB);
    });

    test("is asked by `helm test`, and told apart from one that is not there", async () => {
      const [asking] = of("Pod")[0]?.spec.containers ?? [];
      const ask = async (url: string) => {
        const [program, ...args] = [...asking.command, ...asking.args];
        expect(program).toBe("node");
        const child = spawn(process.execPath, args, { env: { URL_TO_ASK: url } });
        return (await once(child, "exit"))[0];
      };
      expect(await ask(`${server.url}/readyz`)).toBe(0);
      expect(await ask(`${server.url}/nothing`)).toBe(1);
    });

    test("is not ready and alive from SIGTERM on", async () => {
      const stopped = server.stop();
      await expect.poll(() => ask("readinessProbe"), { timeout: 4_000 }).toBe(503);
      expect(await ask("livenessProbe")).toBe(200);
      expect(await stopped).toBe(0);
    });
  });

  test.skipIf(MONGO_DATABASE.missing !== undefined)(
    "is not begun anew while MongoDB is away, and sent no calls (a stand-in of its own)",
    async () => {
      const database = await startStandIn();
      const server = await startServer({ env: { MONGODB_URI: database.uri } });
      const { livenessProbe, readinessProbe } = container;
      const status = async (probe: typeof livenessProbe) =>
        (await fetch(server.url + probe.httpGet.path)).status;
      await expect.poll(() => status(readinessProbe), { timeout: 30_000 }).toBe(200);
      await database.stop();
      await expect.poll(() => status(readinessProbe), { timeout: 30_000 }).toBe(503);
      expect(await status(livenessProbe)).toBe(200);
      await server.kill();
    },
  );
});

function holds(labels: Readonly<Record<string, string>>, asked: Readonly<Record<string, string>>): boolean {
  return Object.entries(asked).every(([name, value]) => labels[name] === value);
}
