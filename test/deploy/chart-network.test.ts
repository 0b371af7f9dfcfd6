import { describe, expect, test, vi } from "vitest";
import { reasonToSkip, render, type Values, workloadOf } from "../support/chart.js";
import { container, objects, ofKind, pod, portNamed, WITH_TLS, workload } from "../support/rendered-chart.js";

// Helm and servers start here, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describe.skipIf(reasonToSkip)(`what the chart makes${reasonToSkip}`, () => {
  test("sends to the pods, and to nothing else", () => {
    const labels = workload.spec.template.metadata.labels;
    const asked = objects.flatMap(({ kind, spec }) => {
      if (kind === "Service") return spec.selector;
      return spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels ?? [];
    });
    const monitor = ofKind("ServiceMonitor")[0]?.spec.selector.matchLabels;
    const pods = asked.filter((selector) => selector !== monitor);
    expect(pods.length).toBeGreaterThanOrEqual(6);
    for (const selector of pods) {
      expect(labels).toMatchObject(selector);
      expect(ofKind("Pod")[0]?.metadata.labels).not.toMatchObject(selector);
    }
    expect(ofKind("Service").filter(({ metadata }) => holds(metadata.labels, monitor))).toHaveLength(1);
    for (const constraint of pod.topologySpreadConstraints) {
      expect(labels).toMatchObject(constraint.labelSelector.matchLabels);
    }
  });

  test("has names and labels that are not too long, however long the release's and the chart's are", () => {
    const long = {
      release: "r".repeat(53),
      set: { nameOverride: "n".repeat(63), metrics: { enabled: true } },
    };
    for (const { metadata } of render(long))
      for (const text of [metadata.name, ...Object.values(metadata.labels)])
        expect(text).toMatch(/^[\w.-]{1,63}$/);
  });

  test("names ports that there are", () => {
    const ports = ofKind("Service").flatMap(({ spec }) => spec.ports);
    expect(ports.length).toBeGreaterThanOrEqual(3);
    expect(ports.filter(({ targetPort }) => portNamed(targetPort) === undefined)).toEqual([]);
    const [service] = ofKind("Service").filter(({ metadata }) => metadata.name === "recalld");
    const backends = [...ofKind("HTTPRoute"), ...ofKind("GRPCRoute")].flatMap(({ spec }) =>
      spec.rules.flatMap((rule: { backendRefs: object[] }) => rule.backendRefs),
    );
    expect(backends).toHaveLength(2);
    for (const backend of backends)
      expect(backend).toEqual({ name: "recalld", port: service?.spec.ports[0].port });
    // Any other would end watches and exports.
    expect(ofKind("HTTPRoute")[0]?.spec.rules[0].timeouts).toEqual({ request: "0s" });
    for (const { spec } of ofKind("Ingress")) {
      expect(spec.rules[0].http.paths[0].backend.service).toEqual({
        name: "recalld",
        port: { name: "http" },
      });
    }
    for (const { port } of ofKind("ServiceMonitor")[0]?.spec.endpoints ?? []) {
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
      // Liveness is asked on the port of the metrics, which has no TLS.
      probes: ["HTTPS", "HTTP", "HTTPS"],
      service: "https",
      asked: "https:",
    });
  });

  test("lets nobody scrape but who may, and lets out what is needed", () => {
    const { ingress, egress } = ofKind("NetworkPolicy")[0]?.spec ?? {};
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
    // Where callers are named, `helm test` still is one of them.
    const from = [{ namespaceSelector: { matchLabels: { team: "memory" } } }];
    const named = render({ set: { networkPolicy: { from } } });
    const peers = named.find(({ kind }) => kind === "NetworkPolicy")?.spec.ingress[0].from;
    const tested = named.find(({ kind }) => kind === "Pod")?.metadata.labels ?? {};
    expect(peers[0]).toEqual(from[0]);
    expect(holds(tested, peers[1].podSelector.matchLabels)).toBe(true);
    // Clients of OAuth are described by documents at their own servers.
    expect(out(policy({ PUBLIC_URL: "https://memory.example.org" }).egress)).toEqual([53, 53, 443]);
    const mirrored = {
      MODEL: "a/b",
      MODELS_HUB: "http://mirror",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://otel:4318",
    };
    expect(out(policy(mirrored).egress)).toEqual([53, 53, 80, 4318]);
  });
});

function holds(labels: Readonly<Record<string, string>>, asked: Readonly<Record<string, string>>): boolean {
  return Object.entries(asked).every(([name, value]) => labels[name] === value);
}
