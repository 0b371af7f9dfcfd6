import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { freePort } from "./free-port.js";

const START_TIMEOUT_MS = 20_000;

/** A balancer that runs in front of replicas. */
export interface Balancer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * A balancer's program with the shipped configuration, so that the tests cover what operators are told to
 * use.
 */
export interface BalancerKind {
  readonly name: string;
  /** Reason why it cannot run here. */
  readonly missing: string | undefined;
  /** Maximum share of the other replicas' keys that may also move when one of three replicas disappears. */
  readonly movesOthersMax: number;
  /** Lets it check a file; without one, the shipped configuration. */
  check(file?: string): { status: number | null; output: string };
  /** Runs it in front of the replicas, with the shipped configuration otherwise. Resolves when it answers. */
  start(replicas: readonly string[]): Promise<Balancer>;
}

const shipped = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));

/**
 * Finds HAProxy in the PATH, where distributions put it, or as HAPROXY names it.
 *
 * @throws Error when there is none and REQUIRE_HAPROXY=1: a check that must not be skipped unnoticed.
 */
export function haproxy(env = process.env): BalancerKind {
  const config = shipped("haproxy/haproxy.cfg");
  const paths = env.HAPROXY ? [env.HAPROXY] : ["haproxy", "/usr/sbin/haproxy", "/usr/local/sbin/haproxy"];
  const program = paths.find((path) => spawnSync(path, ["-v"]).status === 0) ?? "";
  const missing =
    program === "" ? "no HAProxy in PATH, and HAPROXY names none; Debian's package is haproxy" : undefined;
  if (missing !== undefined && env.REQUIRE_HAPROXY === "1") throw new Error(missing);
  return {
    name: "HAProxy",
    missing,
    movesOthersMax: 0,
    check: (file = config) => run(program, ["-c", "-f", file]),
    start: async (replicas) => {
      const port = await freePort();
      const addresses = replicas.map((url, i) => [`RECALLD_${i + 1}`, new URL(url).host]);
      const settings = { RECALLD_BIND: `127.0.0.1:${port}`, ...Object.fromEntries(addresses) };
      return launch({ program, args: ["-db", "-f", config], env: settings, port });
    },
  };
}

/** Finds Envoy, as ENVOY names it. */
export function envoy(env = process.env): BalancerKind {
  const config = shipped("envoy/envoy.yaml");
  const program = env.ENVOY ?? "";
  return {
    name: "Envoy",
    missing: program === "" ? "ENVOY names no Envoy" : undefined,
    // Its ring has as many places for two replicas as for three, and the new places take over some keys.
    movesOthersMax: 0.4,
    check: (file = config) => run(program, ["--mode", "validate", "-c", file]),
    start: async (replicas) => {
      const port = await freePort();
      const folder = mkdtempSync(join(tmpdir(), "recalld-envoy-"));
      const file = join(folder, "envoy.yaml");
      writeFileSync(file, withAddresses(readFileSync(config, "utf8"), { port, replicas }));
      const args = ["-c", file, "--use-dynamic-base-id", "--concurrency", "1", "-l", "warning"];
      const balancer = await launch({ program, args, env: {}, port });
      const stop = () => balancer.stop().finally(() => rmSync(folder, { recursive: true, force: true }));
      return { ...balancer, stop };
    },
  };
}

/** Puts the addresses into the file, because Envoy reads no variables. */
function withAddresses(
  text: string,
  { port, replicas }: { port: number; replicas: readonly string[] },
): string {
  const config = parse(text);
  const { listeners, clusters } = config.static_resources;
  listeners[0].address.socket_address = { address: "127.0.0.1", port_value: port };
  clusters[0].load_assignment.endpoints[0].lb_endpoints = replicas.map((url) => ({
    endpoint: {
      address: { socket_address: { address: "127.0.0.1", port_value: Number(new URL(url).port) } },
    },
  }));
  return stringify(config);
}

function run(program: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  return { status, output: stdout + stderr };
}

interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
}

async function launch({ program, args, env, port }: Launch): Promise<Balancer> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk) => (said += chunk));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  const stop = async () => {
    end();
    process.off("exit", end);
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  for (const endMs = performance.now() + START_TIMEOUT_MS; !(await answers(url)); await sleep(50)) {
    if (child.exitCode === null && performance.now() < endMs) continue;
    await stop();
    throw new Error(`${program} did not start, or no replica answers through it:\n${said}`);
  }
  return { url, port, stop };
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
