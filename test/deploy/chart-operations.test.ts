import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { notes, objectsIn, reasonToSkip, render, type Values, workloadOf } from "../support/chart.js";
import { dockerfile, ofKind, ROOT, read } from "../support/rendered-chart.js";

// Helm and servers start here, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describe.skipIf(reasonToSkip)(`what the chart makes${reasonToSkip}`, () => {
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
    const [scaler] = ofKind("HorizontalPodAutoscaler");
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
    const gateway = { enabled: true, parentRefs: [{ name: "public" }] };
    expect(notes({ set: { gateway } })).toContain("All callers share the gateway's address");
    for (const example of ["ingress-nginx", "gateway"])
      expect(notes({ examples: [example] })).not.toContain("TRUSTED_PROXIES");
  });

  test("has the alerts and the dashboard as they are tested elsewhere", () => {
    expect(ofKind("PrometheusRule")[0]?.spec).toEqual(parse(read("deploy/prometheus/alerts.yaml")));
    const dashboard = ofKind("ConfigMap")[0]?.data?.["recalld.json"] ?? "";
    expect(JSON.parse(dashboard)).toEqual(JSON.parse(read("deploy/grafana/recalld.json")));
  });

  test("has ingress-nginx do what its own example has", () => {
    const examples = parseAllDocuments(read("deploy/ingress-nginx/recalld.yaml")).map((each) => each.toJS());
    for (const { metadata } of examples) {
      const ours = ofKind("Ingress").find((each) => each.metadata.name === metadata.name);
      expect(ours?.metadata.annotations).toEqual(metadata.annotations);
    }
    expect(examples).toHaveLength(ofKind("Ingress").length);
  });
});
