import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inParallel } from "../faults/load.js";
import { type Caller, signUp } from "../support/caller.js";
import { freePort } from "../support/free-port.js";
import { type Protocol, protocolsOf } from "../support/protocols.js";
import { newDataDir, startServer, type TestServer } from "../support/server.js";

// deploy/ingress-nginx relies on this: nginx carries every protocol by its gRPC upstream, over connections
// that it keeps.

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const PROGRAM = [process.env.NGINX ?? "nginx", "/usr/sbin/nginx"].find(
  (path) => spawnSync(path, ["-v"]).status === 0,
);
const missing = PROGRAM === undefined ? " (no nginx in PATH, and NGINX names none)" : "";
const MIXED_CALLS = 200;
const PARALLEL = 8;

describe.skipIf(missing !== "")(`behind nginx${missing}`, () => {
  let server: TestServer;
  let stop: () => Promise<void>;
  let protocols: Protocol[];
  let caller: Caller;

  beforeAll(async () => {
    server = await startServer({ env: { FREE_CALLS: "1000000" } });
    const [http1, http2] = [await freePort(), await freePort()];
    stop = await startNginx({ http1, http2, to: server.port });
    // Without TLS, nginx speaks only one of the two protocols on a port.
    protocols = [
      ...protocolsOf(`http://127.0.0.1:${http1}`).filter(({ name }) => !isHttp2(name)),
      ...protocolsOf(`http://127.0.0.1:${http2}`).filter(({ name }) => isHttp2(name)),
    ];
    caller = await signUp(`http://127.0.0.1:${http1}`);
  });
  afterAll(async () => {
    await stop?.();
    await server?.kill();
  });

  it("every protocol stores and recalls, and says what is wrong", async () => {
    for (const protocol of protocols) {
      const { key } = caller;
      const text = `It rains in Lisbon, says ${protocol.name}.`;
      const stored = await protocol.call("Store", { text, namespace: "n" }, { key });
      expect(stored.code, protocol.name).toBe("ok");
      const recalled = await protocol.call("Recall", { query: text, namespace: "n", top_k: 1 }, { key });
      expect(recalled.body.results, protocol.name).toMatchObject([{ id: stored.body.id }]);
      const refused = await protocol.call("Recall", { query: "", namespace: "n" }, { key });
      expect(refused, protocol.name).toMatchObject({ code: "invalid_argument", fields: ["query"] });
    }
  });

  it(`fails none of ${MIXED_CALLS} calls that come by all protocols at once`, async () => {
    const codes: string[] = [];
    await inParallel({ times: MIXED_CALLS, parallel: PARALLEL }, async (i) => {
      const protocol = protocols[i % protocols.length] as Protocol;
      const { code } = await protocol.call("Recall", { query: "rain", namespace: "n" }, { key: caller.key });
      codes.push(code);
    });
    expect(new Set(codes)).toEqual(new Set(["ok"]));
  });
});

const isHttp2 = (name: string) => name.includes("HTTP/2") || name === "gRPC";

async function startNginx(ports: { http1: number; http2: number; to: number }): Promise<() => Promise<void>> {
  const folder = newDataDir();
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  const pass = "client_max_body_size 2m; location / { grpc_pass grpc://recalld; grpc_read_timeout 35s; }";
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
    http {
      access_log off; ${temporary}
      upstream recalld { server 127.0.0.1:${ports.to}; keepalive 32; }
      server { listen 127.0.0.1:${ports.http1}; ${pass} }
      server { listen 127.0.0.1:${ports.http2} http2; ${pass} }
    }`,
  );
  const child = spawn(PROGRAM as string, ["-c", file], { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ready = () => fetch(`http://127.0.0.1:${ports.http1}/readyz`).then(({ ok }) => ok);
  for (let i = 0; i < 200 && !(await ready().catch(() => false)); i++) await sleep(50);
  return async () => {
    child.kill("SIGTERM");
    await exited;
  };
}
