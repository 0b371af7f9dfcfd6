import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { signUp } from "../support/caller.js";
import { reasonToSkip, render, workloadOf } from "../support/chart.js";
import { MONGO_DATABASE } from "../support/databases.js";
import { startStandIn } from "../support/mongo/stand-in.js";
import { container, MIB, ofKind } from "../support/rendered-chart.js";
import { scrape } from "../support/scrape.js";
import { startServer, type TestServer } from "../support/server.js";

// Helm and servers start here, on machines that may be busy.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

describe.skipIf(reasonToSkip)(`what the chart makes${reasonToSkip}`, () => {
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
      const [endpoint] = ofKind("ServiceMonitor")[0]?.spec.endpoints ?? [];
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
      const [asking] = ofKind("Pod")[0]?.spec.containers ?? [];
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
