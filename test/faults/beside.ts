import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Caller } from "../support/caller.js";
import type { TestServer } from "../support/server.js";

/** Time from one of the observed caller's calls to the next: 15 in a second, far below its limit. */
const PERIOD_MS = 1000 / 15;
/**
 * Pause after a disturbance begins or ends, before anything is measured: by then, a bucket or a queue is
 * empty.
 */
const SETTLE_MS = 2_500;
const SAMPLE_MS = 250;

/** Begins the disturbance and returns the function that ends it. */
type Disturb = () => Promise<() => Promise<void>>;

/** Duration of the measurements. */
export interface Rounds {
  /** Number of rounds, each with an undisturbed and a disturbed half. */
  readonly rounds: number;
  /** Duration of half a round. */
  readonly roundMs: number;
}

/** One caller's calls without and with a disturbance. */
export interface Compared {
  readonly calls: number;
  /** Reasons of the calls that failed. */
  readonly failures: readonly string[];
  readonly calm: Quantiles;
  readonly disturbed: Quantiles;
  /** Median of the ratios of disturbed to calm rounds. */
  readonly p50Ratio: number;
  readonly p99Ratio: number;
  readonly memory: Memory;
}

/** Quantiles in milliseconds. */
interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** Peak resident memory of the server, in bytes. */
interface Memory {
  readonly calm: number;
  readonly disturbed: number;
}

interface Subject {
  readonly server: TestServer;
  readonly quiet: Caller;
}

/**
 * Measures memory first, all calm and then all disturbed rounds, each for as long as all rounds take, because
 * V8 does not return memory between turns. Then it measures calls in turns, because machines change their speed.
 */
export async function compare(rounds: Rounds, subject: Subject, disturb: Disturb): Promise<Compared> {
  const memory = await compareMemory(rounds, subject, disturb);
  return { memory, ...(await compareCalls(rounds, subject.quiet, disturb)) };
}

async function compareMemory(
  { rounds, roundMs }: Rounds,
  { server, quiet }: Subject,
  disturb: Disturb,
): Promise<Memory> {
  const calm = await mostMemory(server.pid, callQuietly(quiet, rounds * roundMs));
  const stop = await disturb();
  const disturbed = await mostMemory(server.pid, callQuietly(quiet, rounds * roundMs));
  await stop();
  await sleep(SETTLE_MS);
  return { calm, disturbed };
}

async function compareCalls(
  { rounds, roundMs }: Rounds,
  quiet: Caller,
  disturb: Disturb,
): Promise<Omit<Compared, "memory">> {
  const calm: number[][] = [];
  const disturbed: number[][] = [];
  const failures: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = await callQuietly(quiet, roundMs);
    const stop = await disturb();
    await sleep(SETTLE_MS);
    const during = await callQuietly(quiet, roundMs);
    await stop();
    if (round < rounds - 1) await sleep(SETTLE_MS);
    calm.push(before.ms);
    disturbed.push(during.ms);
    failures.push(...before.failures, ...during.failures);
  }
  const [all, allDisturbed] = [quantilesOf(calm.flat()), quantilesOf(disturbed.flat())];
  const ratio = (q: keyof Quantiles) =>
    median(disturbed.map((ms, i) => quantilesOf(ms)[q] / quantilesOf(calm[i] as number[])[q]));
  return {
    calls: calm.flat().length + disturbed.flat().length,
    failures,
    calm: all,
    disturbed: allDisturbed,
    p50Ratio: ratio("p50"),
    p99Ratio: ratio("p99"),
  };
}

/**
 * Recalls at a steady rate, whether or not calls are answered, and measures each from its sending. A caller that
 * was itself paused, with its machine, leaves out the calls it missed: all at once, its rate would refuse them.
 */
export async function callQuietly(
  { url, key }: Caller,
  durationMs: number,
): Promise<{ ms: number[]; failures: string[] }> {
  const agent = new Agent({ keepAlive: true });
  const ms: number[] = [];
  const failures: string[] = [];
  const running: Promise<void>[] = [];
  const beganMs = performance.now();
  let dueMs = beganMs;
  for (let call = 0; performance.now() - beganMs < durationMs; call++) {
    const query = `Where does Ada live? ${call} ${beganMs}`;
    running.push(
      timed({ url, key, agent }, query).then(
        (took) => void ms.push(took),
        (error: Error) => void failures.push(error.message),
      ),
    );
    dueMs = Math.max(dueMs, performance.now() - PERIOD_MS) + PERIOD_MS;
    await sleep(Math.max(0, dueMs - performance.now()));
  }
  await Promise.all(running);
  agent.destroy();
  return { ms, failures };
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

async function mostMemory(pid: number, meanwhile: Promise<unknown>): Promise<number> {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, memoryOf(pid));
  }, SAMPLE_MS);
  await meanwhile.finally(() => clearInterval(timer));
  return Math.max(most, memoryOf(pid));
}

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
