import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Caller, type Sent, signUp } from "../support/caller.js";
import { newDataDir, type TestServer } from "../support/server.js";
import { type Compared, callQuietly, compare, type Rounds } from "./beside.js";
import type { Did, Task } from "./flooder.js";

const FLOODER = fileURLToPath(new URL("./flooder.ts", import.meta.url));

/** Rate of every key here. */
export const KEY_RATE = { calls_per_second: 20, burst: 40, concurrent_calls: 8 };
/** Factor by which the flooding key exceeds its rate. */
export const TIMES = 10;
/** Rate of the calls that warm up, which have their own key. */
const WARMING_PER_SECOND = 400;
const WARMING_MS = 5_000;
/** Pause after the last call until its cost is counted. */
const SETTLE_MS = 2_500;
/** Open files that a server needs in addition to its connections. */
const OTHER_FILES = 500;

export interface FloodOptions extends Rounds {
  start(env: Record<string, string>): Promise<TestServer>;
}

export interface KeyFlood extends Compared {
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  /** Maximum calls that the key's rate allows in that time. */
  readonly acceptedMax: number;
  readonly charged: number;
}

/** Calls with one key at ten times its rate, while another key continues. */
export async function floodOneKey(options: FloodOptions): Promise<KeyFlood> {
  const server = await options.start({ PLANS_FILE: plansFile() });
  try {
    const [quiet, loud] = [await warmed(server, options), await callerOf(server)];
    const before = await loud.used();
    const floods = { times: 0, sent: 0, accepted: 0, refused: 0, ms: 0 };
    const compared = await compare(options, { server, quiet }, async () => {
      const beganMs = performance.now();
      const perSecond = KEY_RATE.calls_per_second * TIMES;
      const child = await begin({ kind: "flood", port: server.port, key: loud.key, perSecond });
      return async () => {
        const { sent, answered } = await end(child);
        floods.times += 1;
        floods.sent += sent;
        floods.accepted += answered[200] ?? 0;
        floods.refused += answered[429] ?? 0;
        floods.ms += performance.now() - beganMs;
      };
    });
    const { burst, calls_per_second: perSecond } = KEY_RATE;
    const { times, sent, accepted, refused, ms } = floods;
    const acceptedMax = times * burst + Math.ceil((ms / 1000) * perSecond);
    await sleep(SETTLE_MS);
    // The answers to the last calls may not have been read.
    return { ...compared, sent, accepted, refused, acceptedMax, charged: (await loud.used()) - before };
  } finally {
    await server.kill();
  }
}

export interface Crowded extends Compared {
  /** Number of connections that were cut off for being slow and opened again. */
  readonly cutOff: number;
  /** Memory of the server for each connection. */
  readonly connectionBytes: number;
}

/** Opens very many idle connections and many slow ones, beside one caller. */
export async function crowd({
  idle,
  slow,
  ...options
}: FloodOptions & { readonly idle: number; readonly slow: number }): Promise<Crowded> {
  const server = await options.start({
    PLANS_FILE: plansFile(),
    // One address may hold a third of all.
    CONNECTIONS_MAX: String(4 * (idle + slow)),
    CONNECTIONS_PER_ADDRESS_MAX: String(2 * (idle + slow)),
  });
  try {
    expectFiles(server.pid, idle + slow);
    const [quiet, other] = [await warmed(server, options), await callerOf(server)];
    // A page of these memories is 600 KB.
    const metadata = { note: "x".repeat(10_000) };
    for (let n = 0; n < 60; n++) await stored(other, { text: `large ${n}`, namespace: "n", metadata });
    let cutOff = 0;
    const compared = await compare(options, { server, quiet }, async () => {
      const { port } = server;
      const children = await Promise.all([
        begin({ kind: "idle", port, connections: idle }),
        begin({ kind: "slow", port, key: other.key, connections: slow }),
      ]);
      return async () => {
        const [still, slowly] = (await Promise.all(children.map(end))) as [Did, Did];
        if (still.open < idle) throw new Error(`of ${idle} idle connections ${still.open} were left`);
        cutOff += slowly.sent - slowly.open;
      };
    });
    const { calm, disturbed } = compared.memory;
    const connectionBytes = (disturbed - calm) / (idle + slow);
    return { ...compared, cutOff, connectionBytes };
  } finally {
    await server.kill();
  }
}

/**
 * Warms the server up, whose memory grows with its first thousands of calls, and makes a caller with memories, which
 * has called a while.
 */
async function warmed(server: TestServer, { roundMs }: Pick<FloodOptions, "roundMs">): Promise<Caller> {
  const { key } = await signUp(server.url);
  const child = await begin({ kind: "flood", port: server.port, key, perSecond: WARMING_PER_SECOND });
  await sleep(Math.min(WARMING_MS, roundMs));
  await end(child);
  const caller = await callerOf(server);
  await callQuietly(caller, 2_000);
  return caller;
}

/** Makes a caller with memories. */
async function callerOf({ url }: TestServer): Promise<Caller> {
  const caller = await signUp(url);
  for (let n = 0; n < 20; n++) await stored(caller, { text: `Ada lives in street ${n}.`, namespace: "n" });
  return caller;
}

/** Stores, and again if the rate limit refuses. */
async function stored(caller: Caller, sent: Sent): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const { code, message } = await caller.store(sent);
    if (code === "ok") return;
    if (code !== "resource_exhausted") throw new Error(`store: ${code}, ${message}`);
    await sleep(100);
  }
  throw new Error("a store was refused 50 times");
}

/** Starts a child process and resolves when its disturbance runs. */
async function begin(task: Task): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--import", "tsx", FLOODER, JSON.stringify(task)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [word] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (word !== "ready") throw new Error(`${task.kind} ended with ${word}`);
  return child;
}

async function end(child: ChildProcess): Promise<Did> {
  child.send("end");
  const [did] = await once(child, "message");
  return did as Did;
}

function plansFile(): string {
  const file = join(newDataDir(), "plans.json");
  writeFileSync(file, JSON.stringify({ free: { calls: null, ...KEY_RATE } }));
  return file;
}

/**
 * Checks the limits of open files.
 *
 * @throws Error when the server or a child may not open this many.
 */
function expectFiles(pid: number, connections: number): void {
  for (const [who, id, needed] of [
    ["the server", pid, connections + OTHER_FILES],
    ["a process that connects to it", process.pid, connections + OTHER_FILES],
  ] as const) {
    const [, limit = ""] =
      /^Max open files +\d+ +(\d+)/m.exec(readFileSync(`/proc/${id}/limits`, "utf8")) ?? [];
    // Node raises its own limit to the hard one.
    if (Number(limit) < needed) {
      throw new Error(`${who} may open ${limit} files and needs ${needed}: raise ulimit -n`);
    }
  }
}
