import { describe, expect, test, vi } from "vitest";
import { UNLIMITED_CALLS } from "../../src/accounts/plan.js";
import { loadConfig, SETTINGS } from "../../src/config/config.js";
import { parsePlans } from "../../src/config/plans.js";
import { reasonToSkip, render, type Values, values, workloadOf } from "../support/chart.js";
import { container, env, MANAGED, ofKind, pod, portNamed, WITH_TLS } from "../support/rendered-chart.js";

// Helm and servers start here, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describe.skipIf(reasonToSkip)(`what the chart makes${reasonToSkip}`, () => {
  test("sets what the program knows, once, as it is meant", () => {
    const settings = { TRUSTED_PROXIES: "10.244.0.0/16" };
    const { env } = workloadOf(render({ ...WITH_TLS, set: { settings } }));
    const names = env.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names.filter((name) => !(SETTINGS as readonly string[]).includes(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(MANAGED));
    // Kubernetes itself gives every pod these.
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
      signup: "closed",
      trustedProxies: ["10.244.0.0/16"],
      tlsCert: "/tls/tls.crt",
      tlsKey: "/tls/tls.key",
    });
  });

  test("passes settings on as they are written", () => {
    const settings = {
      MODEL_QUERY_PREFIX: 'a "b" $(HOME) $$(HOME) $$ $ \\n',
      INDEX_MEMORY_BYTES_MAX: 1_234_567_890,
      FREE_CALLS: 2_000_000_000,
      SIGNUP: "closed",
    };
    const set = workloadOf(render({ set: { settings } })).settings;
    expect(expanded(set.MODEL_QUERY_PREFIX)).toBe(settings.MODEL_QUERY_PREFIX);
    const { indexMemoryBytesMax, freeCalls } = loadConfig(set);
    expect([indexMemoryBytesMax, freeCalls]).toEqual([settings.INDEX_MEMORY_BYTES_MAX, settings.FREE_CALLS]);
  });

  test("gives the program the file of plans that it names, and again when they change", () => {
    const [file] = ofKind("ConfigMap").filter(({ metadata }) => metadata.name === "recalld-plans");
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
    // The program keeps its data in the database of the string's path, and the user has that database's
    // rights.
    expect(user.roles).toEqual([{ name: "readWrite", db: user.db }]);
  });

  test("asks the operator for a MongoDB whose StatefulSet may have its name, however long the release's is", () => {
    const names = (release: string) => {
      const objects = render({ release, examples: ["mongodb-community"] });
      const [mongodb] = objects.filter(({ kind }) => kind === "MongoDBCommunity");
      const uri = workloadOf(objects).env.find(({ name }) => name === "MONGODB_URI");
      return [mongodb?.metadata.name, uri?.valueFrom?.secretKeyRef.name];
    };
    // The label of its pods' revision is its name and 11 characters, and has 63 at most.
    const long = "r".repeat(52);
    expect(names(long)).toEqual([`${"r".repeat(44)}-mongodb`, `${"r".repeat(44)}-mongodb-connection`]);
    expect(names(`${"r".repeat(43)}-r`)[0]).toBe(`${"r".repeat(43)}-mongodb`);
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
});

/** What Kubernetes makes of a variable's value: of two $ one, and of the name of another variable its value. */
function expanded(value = ""): string {
  return value.replace(/\$(?:\$|\(HOME\))/g, (found) => (found === "$$" ? "$" : "/root"));
}
