import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/config.js";
import { CHART, reasonToSkip, render, workloadOf } from "../support/chart.js";
import {
  constant,
  container,
  dockerfile,
  MIB,
  ofKind,
  pod,
  portNamed,
  read,
} from "../support/rendered-chart.js";

// Helm and servers start here, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describe.skipIf(reasonToSkip)(`what the chart makes${reasonToSkip}`, () => {
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
    for (const each of [container, ofKind("Pod")[0]?.spec.containers[0]]) {
      expect(each.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
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
      constant("src/server/listen/drain.ts", "LAST_ANSWERS_MS") +
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
    // Endpoints change before the notice ends.
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
    expect(read("docs/deploy.md")).toContain(
      `\`INDEX_MEMORY_BYTES_MAX\` ${Math.round(indexMemory({}) / 1e6)} MB`,
    );
    expect(indexMemory(limits("4Gi"))).toBe(left(4096 * MIB));
    for (const memory of ["2500M", "2500000000", 2_500_000_000]) {
      expect(indexMemory(limits(memory))).toBe(left(2_500_000_000));
    }
    expect(indexMemory({ settings: { EMBED_WORKERS: 4 } })).toBe(left(1536 * MIB, 4));
    expect(indexMemory({ settings: { CONNECTIONS_MAX: 20 } })).toBe(left(1536 * MIB + connections - 400_000));
    for (const resources of [{ limits: null }, null])
      expect(indexMemory({ resources })).toBe(loadConfig({}).indexMemoryBytesMax);
  });

  test("leaves snapshots twice the room that indexes have, and a model a GiB, before the pod is evicted", () => {
    const sizeLimit = (set: object) =>
      workloadOf(render({ examples: ["mongodb"], set: { ...set } })).pod.volumes[0].emptyDir.sizeLimit;
    const sizeFor = (indexBytes: number) => `${Math.ceil((2 * indexBytes) / MIB) + 1024}Mi`;
    const ofMemory = (memory: string | null) => ({ resources: { limits: memory && { memory } } });
    const budget = (set: object) =>
      loadConfig(workloadOf(render({ set: { ...set } })).settings).indexMemoryBytesMax;
    for (const set of [{}, ofMemory("16Gi"), ofMemory(null), { settings: { INDEX_MEMORY_BYTES_MAX: 1e9 } }]) {
      expect(sizeLimit(set)).toBe(sizeFor(budget(set)));
    }
    expect(sizeLimit(ofMemory("16Gi"))).not.toBe(sizeLimit({}));
    expect(sizeLimit({ scratchSizeLimit: "20Gi" })).toBe("20Gi");
  });
});
