import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.js";

/** The example that is shipped: what is tested is what operators are told to use. */
export const HAPROXY_CONFIG = fileURLToPath(new URL("../../deploy/haproxy/haproxy.cfg", import.meta.url));

/** Where distributions put it: not in the PATH of everybody. */
const PLACES = ["haproxy", "/usr/sbin/haproxy", "/usr/local/sbin/haproxy"];
const START_TIMEOUT_MS = 10_000;

export interface Haproxy {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * The program, or why there is none. HAPROXY names one that lies elsewhere.
 *
 * @throws Error when there is none and REQUIRE_HAPROXY=1: a check that must not be skipped unseen.
 */
export function findHaproxy(env = process.env): { program: string } | { reason: string } {
  const program = (env.HAPROXY ? [env.HAPROXY] : PLACES).find((each) => spawnSync(each, ["-v"]).status === 0);
  if (program !== undefined) return { program };
  const reason = "no HAProxy: HAPROXY is not set, and there is none in PATH; Debian's package is haproxy";
  if (env.REQUIRE_HAPROXY === "1") throw new Error(reason);
  return { reason };
}

/** Runs HAProxy with the shipped configuration in front of replicas, and waits until all are up. */
export async function startHaproxy(program: string, replicas: readonly string[]): Promise<Haproxy> {
  if (!existsSync(HAPROXY_CONFIG)) throw new Error(`${HAPROXY_CONFIG} is not there`);
  const port = await freePort();
  const addresses = Object.fromEntries(
    replicas.map((url, i) => [`RECALLD_${i + 1}`, new URL(url).host] as const),
  );
  const env = { PATH: process.env.PATH ?? "", RECALLD_BIND: `127.0.0.1:${port}`, ...addresses };
  const child = spawn(program, ["-db", "-f", HAPROXY_CONFIG], { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  const stop = async () => {
    end();
    process.off("exit", end);
    await exited;
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await answering(url, exited);
  } catch (error) {
    await stop();
    throw new Error(`HAProxy did not start:\n${said}`, { cause: error });
  }
  return { url, port, stop };
}

async function answering(url: string, exited: Promise<unknown>): Promise<void> {
  let ended = false;
  void exited.then(() => (ended = true));
  for (const endMs = performance.now() + START_TIMEOUT_MS; performance.now() < endMs; ) {
    if (ended) throw new Error("it ended at once");
    const ready = await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("no replica answers through it");
}
