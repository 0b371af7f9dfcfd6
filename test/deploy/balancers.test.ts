import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/config.js";
import { HEARTBEAT_MS } from "../../src/memory/operations/stream/watch.js";
import { CALL_TIMEOUT_MS } from "../../src/server/call.js";
import { BODY_BYTES_MAX } from "../../src/server/rpc/service.js";
import { haproxy } from "../support/balancer.js";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const callMs = CALL_TIMEOUT_MS;
const { drainNoticeMs, port } = loadConfig({});
/** Headers that choose the replica, in any letter case. */
const ROUTING = ["authorization", "x-api-key", "recalld-namespace"];

/** The same headers as nginx writes them. */
const upstreamHash = ROUTING.map((name) => `$http_${name.replaceAll("-", "_")}`).join("");

/** Reads a duration such as `250ms` or `2s`, in milliseconds. */
function duration(text: string | undefined): number {
  const [, value, unit] = /^(\d+)(ms|s)$/.exec(text ?? "") ?? [];
  return Number(value) * (unit === "s" ? 1000 : 1);
}

describe("deploy/haproxy/haproxy.cfg", () => {
  const config = read("deploy/haproxy/haproxy.cfg");
  const timeout = (name: string) => duration(new RegExp(`timeout ${name} (\\S+)`).exec(config)?.[1]);

  test("waits for a call as long as recalld lets it take", () => {
    expect(timeout("server")).toBeGreaterThan(callMs);
    expect(timeout("http-request")).toBeGreaterThan(callMs);
  });

  test("ends no watch that lives", () => {
    for (const name of ["server", "client"]) expect(timeout(name)).toBeGreaterThan(2 * HEARTBEAT_MS);
  });

  test("tells the replicas itself whether the client's connection is secure", () => {
    expect(config).toContain("http-request set-header X-Forwarded-Proto https if { ssl_fc }");
    expect(config).toContain("http-request set-header X-Forwarded-Proto http if !{ ssl_fc }");
  });

  test("notices a replica that drains before the notice is over", () => {
    const [, inter, fast, fall] = /inter (\S+) fastinter (\S+) downinter \S+ fall (\d+)/.exec(config) ?? [];
    const noticedMs = duration(inter) + (Number(fall) - 1) * duration(fast) + timeout("check");
    expect(noticedMs).toBeLessThan(drainNoticeMs);
    expect(config).toContain("uri /readyz");
  });

  test("sends nothing twice that may have arrived", () => {
    expect(/^\s*retry-on (.*)$/m.exec(config)?.[1]).toBe("conn-failure");
  });

  test("routes by the headers that the documentation names", () => {
    const headers = [...config.matchAll(/set-var\S+ req\.hdr\(([\w-]+)\)/g)].map(
      ([, name]) => name as string,
    );
    expect([...new Set(headers)].sort()).toEqual([...ROUTING].sort());
  });
});

describe("deploy/envoy/envoy.yaml", () => {
  const { listeners, clusters } = parse(read("deploy/envoy/envoy.yaml")).static_resources;
  const manager = listeners[0].filter_chains[0].filters[0].typed_config;
  const { route } = manager.route_config.virtual_hosts[0].routes[0];
  const [check] = clusters[0].health_checks;

  test("ends no stream that lives, and waits for a call as long as recalld lets it take", () => {
    expect(duration(route.timeout)).toBe(0);
    expect(route.max_stream_duration).toBeUndefined();
    expect(duration(route.idle_timeout)).toBeGreaterThan(Math.max(callMs, 2 * HEARTBEAT_MS));
  });

  test("notices a replica that drains before the notice is over", () => {
    expect(duration(check.interval) + duration(check.timeout)).toBeLessThan(drainNoticeMs);
    expect(check.http_health_check.path).toBe("/readyz");
  });

  test("sends nothing twice that may have arrived", () => {
    expect(route.retry_policy.retry_on).toBe("connect-failure,refused-stream");
  });

  test("routes by the headers that the documentation names", () => {
    expect(
      route.hash_policy.map((each: { header: { header_name: string } }) => each.header.header_name),
    ).toEqual(ROUTING);
  });
});

describe("deploy/ingress-nginx/recalld.yaml", () => {
  const { kind, metadata, spec } = parse(read("deploy/ingress-nginx/recalld.yaml"));
  const annotation = (name: string) => String(metadata.annotations[`nginx.ingress.kubernetes.io/${name}`]);

  test("speaks one protocol with the replicas", () => {
    expect(kind).toBe("Ingress");
    expect(annotation("backend-protocol")).toBe("GRPC");
    expect(spec.rules[0].http.paths[0].backend.service.port.number).toBe(port);
  });

  test("bears calls, bodies and headers as recalld does", () => {
    expect(Number(annotation("proxy-read-timeout")) * 1000).toBeGreaterThan(callMs);
    expect(Number.parseInt(annotation("proxy-body-size"), 10) * 2 ** 20).toBeGreaterThan(BODY_BYTES_MAX);
    expect(annotation("upstream-hash-by")).toBe(upstreamHash);
  });
});

describe("balancers in the cluster, as docs/deploy.md has them", () => {
  const page = read("docs/deploy.md");
  /** Finds the block of a language that names the pods. */
  const block = (language: string) =>
    page
      .split(/^```/m)
      .find((text) => text.startsWith(`${language}\n`) && text.includes("recalld-pods"))
      ?.slice(language.length + 1) ?? "";
  const folder = mkdtempSync(join(tmpdir(), "recalld-balancers-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const { missing, check } = haproxy();
  test.skipIf(missing !== undefined)(`HAProxy finds them valid (missing: ${missing ?? "nothing"})`, () => {
    const [servers = "", more = ""] = block("haproxy").split("\n\n");
    const replicas = /(?:^\tserver replica\d .*\n)+/m;
    const config = read("deploy/haproxy/haproxy.cfg");
    expect(config).toMatch(replicas);
    expect(servers).toContain("server-template");
    const file = join(folder, "haproxy.cfg");
    writeFileSync(file, `${config.replace(replicas, `${servers}\n`)}\n${more}`);
    const { status, output } = check(file);
    expect(output).not.toMatch(/\bwarning\b|\balert\b|\berror\b/i);
    expect(status).toBe(0);
  });

  test("Envoy looks their names up, again and again", () => {
    const { clusters } = parse(read("deploy/envoy/envoy.yaml")).static_resources;
    expect(clusters[0].type).toBe("STRICT_DNS");
    const [endpoint] = parse(block("yaml"));
    const [shipped] = clusters[0].load_assignment.endpoints[0].lb_endpoints;
    const { address } = endpoint.endpoint.address.socket_address;
    shipped.endpoint.address.socket_address.address = address;
    expect(endpoint).toEqual(shipped);
    expect(block("haproxy")).toContain(`${address}:${port}`);
  });
});

test("the headers are those that docs/deploy.md and the portal know", () => {
  const page = read("docs/deploy.md");
  for (const name of ["Authorization", "Recalld-Namespace"]) expect(page).toContain(`\`${name}\``);
  expect(read("web/src/session/client.ts")).toContain('"recalld-namespace"');
  expect(read("src/server/listen/cors.ts")).toContain('"Recalld-Namespace"');
});
