import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Caller, type Sent, signUp } from "../support/caller.js";
import { newDataDir, type TestServer } from "../support/server.js";
import type { Did, Task } from "./flooder.js";

const FLOODER = fileURLToPath(new URL("./flooder.ts", import.meta.url));

/** Of every key here. */
export const KEY_RATE = { calls_per_second: 20, burst: 40, concurrent_calls: 8 };
/** How much more than its rate the key that floods calls. */
export const TIMES = 10;
/** How often the key that is looked at calls: far below its rate. */
const QUIET_PER_SECOND = 15;
/** By a key of its own. */
const WARMING_PER_SECOND = 400;
const WARMING_MS = 5_000;
/** After a disturbance begins or ends, before anything is measured: a bucket is empty then, a queue too. */
const SETTLE_MS = 2_500;
/** Open files that a server needs beside its connections. */
const OTHER_FILES = 500;

export interface FloodOptions {
  start(env: Record<string, string>): Promise<TestServer>;
  /** Each of them once undisturbed and once disturbed. */
  readonly rounds: number;
  /** Half of a round. */
  readonly roundMs: number;
}

/** One caller's calls while nothing else happens, and while something does; from the same run, by turns. */
export interface Compared {
  readonly calls: number;
  readonly failed: number;
  readonly calm: Quantiles;
  readonly disturbed: Quantiles;
  /** The disturbed round's by the calm one's beside it; of these, the median. */
  readonly p50Ratio: number;
  readonly p99Ratio: number;
  /** Memory of the server, at its most in the disturbed rounds by its most in the calm ones before. */
  readonly memoryRatio: number;
  readonly memoryBytes: number;
}

interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

export interface KeyFlood extends Compared {
  readonly sent: number;
  readonly admitted: number;
  readonly refused: number;
  /** What the key may have made of its rate in that time. */
  readonly admittedMax: number;
  readonly charged: number;
}

/** One key calls ten times as often as it may, another goes on. */
export async function floodOneKey(options: FloodOptions): Promise<KeyFlood> {
  const server = await options.start({ PLANS_FILE: plansFile() });
  try {
    const [quiet, loud] = [await warmed(server, options), await warmed(server, options)];
    const before = await loud.used();
    const floods = { sent: 0, admitted: 0, refused: 0, ms: 0 };
    const compared = await compare(options, { server, quiet }, async () => {
      const beganMs = performance.now();
      const perSecond = KEY_RATE.calls_per_second * TIMES;
      const child = await begin({ kind: "flood", port: server.port, key: loud.key, perSecond });
      return async () => {
        const { sent, answered } = await end(child);
        floods.sent += sent;
        floods.admitted += answered[200] ?? 0;
        floods.refused += answered[429] ?? 0;
        floods.ms += performance.now() - beganMs;
      };
    });
    const { burst, calls_per_second: perSecond } = KEY_RATE;
    const { sent, admitted, refused, ms } = floods;
    const admittedMax = options.rounds * burst + Math.ceil((ms / 1000) * perSecond);
    await sleep(SETTLE_MS);
    // Of the last calls the answers may not have been read.
    return { ...compared, sent, admitted, refused, admittedMax, charged: (await loud.used()) - before };
  } finally {
    await server.kill();
  }
}

export interface Crowded extends Compared {
  /** Connections that were cut off for being slow, or asked again. */
  readonly cutOff: number;
  /** Of the server's memory, for each. */
  readonly connectionBytes: number;
}

/** Very many connections that do nothing, and many that do it slowly, beside one caller. */
export async function crowd({
  idle,
  slow,
  ...options
}: FloodOptions & { readonly idle: number; readonly slow: number }): Promise<Crowded> {
  const server = await options.start({
    PLANS_FILE: plansFile(),
    CONNECTIONS_PER_ADDRESS_MAX: String(2 * (idle + slow)),
  });
  try {
    expectFiles(server.pid, idle + slow);
    const [quiet, other] = [await warmed(server, options), await warmed(server, options)];
    // A page of these is 600 KB.
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
    const { memoryBytes, memoryRatio } = compared;
    const connectionBytes = (memoryBytes - memoryBytes / memoryRatio) / (idle + slow);
    return { ...compared, cutOff, connectionBytes };
  } finally {
    await server.kill();
  }
}

/** By turns, because machines change their pace: calm, disturbed, calm, disturbed. */
async function compare(
  { rounds, roundMs }: FloodOptions,
  { server, quiet }: { server: TestServer; quiet: Caller },
  disturb: () => Promise<() => Promise<void>>,
): Promise<Compared> {
  const calm: number[][] = [];
  const disturbed: number[][] = [];
  const memory = { calm: 0, disturbed: 0 };
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    const before = await quietly(quiet, roundMs);
    if (round === 0) memory.calm = memoryOf(server.pid);
    const stop = await disturb();
    await sleep(SETTLE_MS);
    const during = await quietly(quiet, roundMs);
    memory.disturbed = Math.max(memory.disturbed, memoryOf(server.pid));
    await stop();
    await sleep(SETTLE_MS);
    calm.push(before.ms);
    disturbed.push(during.ms);
    failed += before.failed + during.failed;
  }
  const [all, allDisturbed] = [quantilesOf(calm.flat()), quantilesOf(disturbed.flat())];
  const ratio = (q: keyof Quantiles) =>
    median(disturbed.map((ms, i) => quantilesOf(ms)[q] / quantilesOf(calm[i] as number[])[q]));
  return {
    calls: calm.flat().length + disturbed.flat().length,
    failed,
    calm: all,
    disturbed: allDisturbed,
    p50Ratio: ratio("p50"),
    p99Ratio: ratio("p99"),
    memoryRatio: memory.disturbed / memory.calm,
    memoryBytes: memory.disturbed,
  };
}

/** Recalls at a steady rate, whether they are answered or not; what each took, from when it was sent. */
async function quietly({ url, key }: Caller, durationMs: number): Promise<{ ms: number[]; failed: number }> {
  const agent = new Agent({ keepAlive: true });
  const ms: number[] = [];
  let failed = 0;
  const running: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let call = 0; performance.now() - beganMs < durationMs; call++) {
    const query = `Where does Ada live? ${call} ${beganMs}`;
    running.push(
      timed({ url, key, agent }, query).then(
        (took) => void ms.push(took),
        () => void failed++,
      ),
    );
    await sleep(Math.max(0, beganMs + ((call + 1) * 1000) / QUIET_PER_SECOND - performance.now()));
  }
  await Promise.all(running);
  agent.destroy();
  return { ms, failed };
}

async function timed(
  { url, key, agent }: { url: string; key: string; agent: Agent },
  query: string,
): Promise<number> {
  const sentMs = performance.now();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const call = request(`${url}/recall`, { method: "POST", agent, headers });
  call.end(JSON.stringify({ query, namespace: "n" }));
  const [response] = await once(call, "response");
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`HTTP ${response.statusCode}`);
  return performance.now() - sentMs;
}

/** With something to recall, after some seconds of work: a server's memory grows with its first thousands of calls. */
async function warmed(
  { url, port }: TestServer,
  { roundMs }: Pick<FloodOptions, "roundMs">,
): Promise<Caller> {
  const busy = await signUp(url);
  const child = await begin({ kind: "flood", port, key: busy.key, perSecond: WARMING_PER_SECOND });
  await sleep(Math.min(WARMING_MS, roundMs));
  await end(child);
  const caller = await signUp(url);
  for (let n = 0; n < 20; n++) await stored(caller, { text: `Ada lives in street ${n}.`, namespace: "n" });
  await quietly(caller, 2_000);
  return caller;
}

/** Again, where the rate is in the way. */
async function stored(caller: Caller, sent: Sent): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const { code, message } = await caller.store(sent);
    if (code === "ok") return;
    if (code !== "resource_exhausted") throw new Error(`store: ${code}, ${message}`);
    await sleep(100);
  }
  throw new Error("a store was refused 50 times");
}

/** Resolves when it does what it is to do. */
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

/** @throws Error when the server or a child may not open so many files. */
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

/** Resident, in bytes. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

function quantilesOf(ms: readonly number[]): Quantiles {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
