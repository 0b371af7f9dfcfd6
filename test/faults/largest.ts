import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stored } from "../../src/memory/ports/log.js";
import { newMemoryId } from "../../src/memory/requests/id.js";
import { openLocal } from "../../src/storage/local/open.js";
import { type Caller, callerAt, signUp } from "../support/caller.js";
import { scrape } from "../support/scrape.js";
import { newDataDir, type ServerOptions, type TestServer } from "../support/server.js";

/** Maximum length of a text. All fields here have their maximum. */
const TEXT_BYTES = 65_536;
const METADATA_BYTES = 16_384;
const NAMESPACE = "n".repeat(256);
const KEY_CHARS = 255;
const PUNCTUATION = '"#%&*+;\\';
const TOP_K = 20;
const PAGE_SIZE = 100;
/** Maximum number of a text's windows, and the length of the model's vectors. */
const WINDOWS = 1_025;
const DIMENSIONS = 384;
/** Number of memories with the longest text and one vector, enough for a full recall. */
const SINGLES = 100;
const HEAP_MB = 512;
const SAMPLE_MS = 50;
const LOOP_WATCH = new URL("../support/loop-watch.mjs", import.meta.url).href;

export interface LargestOptions {
  start(options: ServerOptions): Promise<TestServer>;
  /** Number of memories with the maximum number of vectors. */
  readonly memories: number;
  /** Number of rounds. All calls of a round are made at once. */
  readonly rounds: number;
  /** Number of lists at once. Other calls are fewer, in proportion. */
  readonly lists: number;
}

export interface LargestFigures {
  /** Number of calls with each code. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly probes: number;
  readonly probesFailed: number;
  readonly slowestProbeMs: number;
  readonly rssMaxMB: number;
  /**
   * Maximum processor time of the server's main thread in one iteration of the event loop: how long its own
   * work blocks it, however busy the machine is.
   */
  readonly heldMaxMs: number;
  /** Maximum delay of the event loop by the clock. The maximum of used heap follows. */
  readonly pauseMaxMs: number;
  readonly heapMaxMB: number;
}

/** Asks for the largest of everything at once, and observes the server. */
export async function largest({ start, memories, rounds, lists }: LargestOptions): Promise<LargestFigures> {
  const dataDir = newDataDir();
  const account = await prepare({ start, dataDir, memories });
  const held = join(dataDir, "held-ms");
  const env = {
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import ${LOOP_WATCH}`,
    LOOP_WATCH_FILE: held,
    METRICS_PORT: "0",
    FREE_CALLS: "1000000",
  };
  const server = await start({ dataDir, env });
  try {
    const caller = callerAt(server.url, account);
    // The index is built, and the model is warm.
    await caller.recall("tea", NAMESPACE, TOP_K);
    await scrape(server.metricsUrl);
    process.kill(server.pid, "SIGUSR2");
    const watch = watchServer(server);
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < rounds; round++) {
      const calls = largestCalls({ caller, server, round, lists });
      for (const code of await Promise.all(calls)) outcomes[code] = (outcomes[code] ?? 0) + 1;
    }
    const seen = await watch.end();
    return { outcomes, ...seen, heldMaxMs: Number(readFileSync(held, "utf8")) };
  } finally {
    await server.kill();
  }
}

/**
 * Makes an account whose namespace holds the largest memories, without embedding, which would take minutes.
 */
async function prepare({
  start,
  dataDir,
  memories,
}: Pick<LargestOptions, "start" | "memories"> & { dataDir: string }) {
  const server = await start({ dataDir, env: { FREE_CALLS: "1000000" } });
  const { id, key } = await signUp(server.url);
  await server.stop();
  const { log, names, close } = await openLocal({ dataDir });
  const logId = await names.create({ accountId: id, namespace: NAMESPACE });
  for (let number = 1; number <= memories + SINGLES; number++) {
    const entry = aLargeOne(number > SINGLES ? WINDOWS : 1);
    await log.append({ logId, from: number, entries: [entry] });
  }
  await close();
  return { id, key };
}

function aLargeOne(windows: number): Stored {
  const id = newMemoryId();
  const vectors = Float32Array.from({ length: windows * DIMENSIONS }, () => Math.random() - 0.5);
  for (let at = 0; at < vectors.length; at += DIMENSIONS) {
    const vector = vectors.subarray(at, at + DIMENSIONS);
    const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
    vector.forEach((x, i) => {
      vector[i] = x / length;
    });
  }
  return {
    op: "store",
    opId: id,
    id,
    text: largestText(),
    metadata: JSON.stringify(largestMetadata()),
    vectors,
    ...(windows > 1 && {
      windows: Array.from({ length: windows }, (_, i) => ({ start: i * 63, end: i * 63 + 64 })),
    }),
    tokens: TEXT_BYTES,
    createdAtMs: Date.now(),
  };
}

/** Makes a text of punctuation: each sign is a token and some two bytes of JSON, and all windows differ. */
function largestText(): string {
  return Array.from({ length: TEXT_BYTES }, () => PUNCTUATION[Math.floor(Math.random() * 8)]).join("");
}

function largestMetadata() {
  return { k: "m".repeat(METADATA_BYTES - JSON.stringify({ k: "" }).length) };
}

interface Calls {
  readonly caller: Caller;
  readonly server: TestServer;
  readonly round: number;
  readonly lists: number;
}

/** Makes every call that reads or writes memories, many at once. Each ends with its code. */
function largestCalls({ caller, server, round, lists }: Calls): Promise<string>[] {
  const times = (count: number, call: (i: number) => Promise<string>) =>
    Array.from({ length: Math.max(1, Math.round(count)) }, (_, i) =>
      call(i).catch((error: Error) => error.message),
    );
  const metadata = largestMetadata();
  const recalling = (query: string) =>
    post(server, caller, "Recall", { query, namespace: NAMESPACE, top_k: TOP_K });
  const storing = (text: string, i: number) => {
    const header = { "idempotency-key": `${round}-${i}-`.padEnd(KEY_CHARS, "k") };
    return post(server, caller, "Store", { text, namespace: NAMESPACE, metadata }, header);
  };
  return [
    ...times(lists, () =>
      post(server, caller, "ListMemories", { namespace: NAMESPACE, page_size: PAGE_SIZE }),
    ),
    ...times(lists / 2, () => recalling("tea or coffee")),
    ...times(lists / 30, () => recalling(largestText())),
    ...times(lists / 30, (i) => storing(largestText(), i)),
    ...times(lists / 3, (i) => storing(`tea ${round} ${i}`, 1000 + i)),
  ];
}

async function post(
  { url }: TestServer,
  { key }: Caller,
  rpc: string,
  body: object,
  header: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await fetch(`${url}/recalld.v1.MemoryService/${rpc}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...header },
    body: JSON.stringify(body),
  });
  const { code } = (await response.json()) as { code?: string };
  return response.ok ? "ok" : String(code);
}

/** Keeps asking whether the server lives, and how much memory it holds. */
function watchServer(server: TestServer) {
  const seen = {
    probes: 0,
    probesFailed: 0,
    slowestProbeMs: 0,
    rssMaxMB: 0,
    pauseMaxMs: 0,
    heapMaxMB: 0,
  };
  let over = false;
  const probe = async () => {
    const begunMs = performance.now();
    const alive = await fetch(`${server.url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
    seen.probes++;
    if (!alive) seen.probesFailed++;
    seen.slowestProbeMs = Math.max(seen.slowestProbeMs, performance.now() - begunMs);
    seen.rssMaxMB = Math.max(seen.rssMaxMB, rssMBOf(server.pid));
  };
  const measure = async () => {
    const { sum } = await scrape(server.metricsUrl);
    seen.pauseMaxMs = Math.max(seen.pauseMaxMs, sum("nodejs_eventloop_lag_max_seconds") * 1000);
    seen.heapMaxMB = Math.max(seen.heapMaxMB, sum("nodejs_heap_size_used_bytes") / 1e6);
  };
  const running = (async () => {
    for (let sample = 0; !over; sample++) {
      await probe();
      if (sample % 10 === 0) await measure();
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    async end() {
      over = true;
      await running;
      await measure();
      return seen;
    },
  };
}

function rssMBOf(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1000;
}
