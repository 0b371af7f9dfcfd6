import { describe, expect, test, vi } from "vitest";
import { values as defaults, reasonToSkip, refusal, render, schema, type Values } from "../support/chart.js";

// Helm is started again and again, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

/** Values that the chart must refuse, and the words that say why. */
const refusals: readonly (readonly [why: string, values: Values, words: RegExp])[] = [
  ["two replicas of the embedded database", { set: { replicaCount: 2 } }, /replicaCount is 2 .*one replica/],
  [
    "autoscaling of it",
    { set: { autoscaling: { enabled: true } } },
    /autoscaling.enabled needs database.kind/,
  ],
  ["MongoDB without a secret", { set: { database: { kind: "mongodb" } } }, /existingSecret.name/],
  ["two ways to MongoDB", { examples: ["mongodb", "mongodb-community"] }, /both set/],
  [
    "MongoDB's secret without MongoDB",
    { set: { database: { mongodb: { existingSecret: { name: "uri" } } } } },
    /database.kind is embedded/,
  ],
  [
    "a MongoDB without a password",
    { set: { database: { kind: "mongodb", mongodb: { community: { enabled: true } } } } },
    /passwordSecret.name is missing/,
  ],
  [
    "another database",
    { set: { database: { kind: "postgres" } } },
    /database.kind must be one of the following: "embedded", "mongodb"/,
  ],
  ["a value that there is not", { set: { replicas: 2 } }, /Additional property replicas is not allowed/],
  [
    "a setting that there is not",
    { set: { settings: { LOGLEVEL: "info" } } },
    /settings: Additional property LOGLEVEL is not allowed/,
  ],
  [
    "a setting of the chart's own",
    { set: { settings: { PORT: 80 } } },
    /settings: Additional property PORT is not allowed/,
  ],
  [
    "a setting out of its range",
    { set: { settings: { EMBED_WORKERS: 0 } } },
    /EMBED_WORKERS: Must be greater than or equal to 1/,
  ],
  [
    "a setting twice",
    { set: { extraEnv: [{ name: "EMBED_WORKERS", value: "2" }] } },
    /EMBED_WORKERS.*already/,
  ],
  ["a release that no Service can be named after", { release: "1st" }, /1st-recalld cannot be the name/],
  ["one with a dot", { release: "my.recalld" }, /my.recalld cannot be the name/],
  ["a name with a dot", { set: { fullnameOverride: "my.recalld" } }, /fullnameOverride.*pattern/],
  [
    "a budget that lets no pod go",
    { examples: ["mongodb"], set: { podDisruptionBudget: { maxUnavailable: "0%" } } },
    /maxUnavailable.*pattern/,
  ],
  [
    "an Ingress without a name",
    { set: { ingress: { enabled: true } } },
    /ingress.enabled needs ingress.host/,
  ],
  ["routes without a Gateway", { set: { gateway: { enabled: true } } }, /gateway.parentRefs/],
  [
    "a Gateway that speaks without TLS to pods that speak TLS",
    { examples: ["gateway", "tls"] },
    /gateway.enabled with tls.existingSecret/,
  ],
  ["an nginx that does", { examples: ["ingress-nginx", "tls"] }, /backend-protocol: GRPC with .*GRPCS/],
  ["a Traefik that does", { examples: ["ingress-traefik", "tls"] }, /serversscheme: h2c with .*https/],
  [
    "callers' addresses where nobody comes from outside",
    { set: { service: { externalTrafficPolicy: "Local" } } },
    /externalTrafficPolicy is for/,
  ],
  [
    "a balancer's callers without a balancer",
    { set: { service: { type: "NodePort", loadBalancerSourceRanges: ["192.0.2.0/24"] } } },
    /loadBalancerSourceRanges is for/,
  ],
  [
    "two routes with one name",
    {
      set: {
        gateway: { enabled: true, parentRefs: [{ name: "g" }], grpc: { hostnames: ["a.example.org"] } },
      },
    },
    /gateway.grpc.hostnames has a.example.org/,
  ],
  [
    "a monitor of no metrics",
    { set: { metrics: { serviceMonitor: { enabled: true } } } },
    /metrics.serviceMonitor.enabled needs metrics.enabled/,
  ],
  [
    "metrics where the calls come",
    { set: { metrics: { enabled: true, port: 8080 } } },
    /metrics.port is 8080/,
  ],
  [
    "more memory for indexes than there is",
    { set: { settings: { INDEX_MEMORY_BYTES_MAX: 2e9 } } },
    /more than/,
  ],
  [
    "too little memory",
    { set: { resources: { limits: { memory: "256Mi" } } } },
    /limits.memory is 256Mi: too/,
  ],
  ["memory without a unit that is known", { set: { resources: { limits: { memory: "1 GB" } } } }, /pattern/],
  ["plans without the one of those that sign up", { set: { plans: { team: { calls: 1 } } } }, /no plan free/],
  [
    "a plan out of its range",
    { set: { plans: { free: { calls: -1 } } } },
    /plans.free.calls: Must be greater than or equal to 0/,
  ],
  [
    "two words on free calls",
    { examples: ["plans"], set: { settings: { FREE_CALLS: 1 } } },
    /FREE_CALLS is set beside plans/,
  ],
  ["less time to end than it takes", { set: { terminationGracePeriodSeconds: 30 } }, /may take 60/],
  [
    "fewer replicas at most than at least",
    { examples: ["mongodb"], set: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 2 } } },
    /minReplicas is 3, more than/,
  ],
];

describe.skipIf(reasonToSkip)(`the chart${reasonToSkip}`, () => {
  test.each(refusals)("refuses %s", (_why, values, words) => {
    expect(refusal(values)).toMatch(words);
  });

  test("names each block that is null and must not be, as one is whose every line is a comment", () => {
    const said = refusal({ set: Object.fromEntries(schema.required.map((name: string) => [name, null])) });
    for (const name of schema.required) expect(said).toContain(`- (root): ${name} is required`);
  });

  test("takes null for any other block", () => {
    const optional = (
      block: object,
      { required = [], properties = {} }: typeof schema,
    ): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(block)
          .filter(([, value]) => typeof value === "object" && value !== null && !Array.isArray(value))
          .map(([name, value]) => [name, required.includes(name) ? optional(value, properties[name]) : null]),
      );
    expect(render({ set: optional(defaults, schema) })).not.toEqual([]);
  });
});
