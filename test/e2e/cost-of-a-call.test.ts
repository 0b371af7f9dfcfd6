import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { RootDatabase } from "lmdb";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
// Worker threads run compiled code only, which `npm test` compiles first.
import { openService, type Service } from "../../dist/src/compose.js";
import { loadConfig } from "../../dist/src/config/config.js";
import { UsearchIndex } from "../../dist/src/index/vectors/usearch-index.js";
import { openLog } from "../../dist/src/server/logging.js";
import { newDataDir, unhurried } from "../support/server.js";

/** Number of calls that are counted together, so that work in the background does not count. */
const CALLS = 20;
const WARM_UP_CALLS = 30;
/** Time after which all that a call leaves behind has happened, such as the writing of its charge. */
const SETTLED_MS = 50;

/** Dear things, and how often one warm call does each. */
interface Cost {
  /** Transactions that write to the database. */
  readonly transactions: number;
  /** Reads of entries of a log. */
  readonly entriesRead: number;
  /** Reads of other records. */
  readonly recordsRead: number;
  readonly searches: number;
  /** Memories that the index is asked for. */
  readonly candidates: number;
  /** Vectors that the index looks for at first, in each of its graphs. */
  readonly vectors: number;
  readonly messagesToThreads: number;
  readonly jsonParsed: number;
  readonly abortControllers: number;
  /** Signals made of other signals or of a time. */
  readonly derivedSignals: number;
  /** Aborts without a reason, for each of which Node makes an exception with a stack. */
  readonly abortsWithoutReason: number;
  readonly timers: number;
  readonly logLines: number;
}

/**
 * A slowdown is caught by its cause, not by a clock. A number that rises needs a reason; one that falls is
 * lowered here, so that it stays there.
 */
const RECALL: Cost = {
  // Of its charge, which it may share with other calls.
  transactions: 1,
  // Its five results, and the place after the log's end.
  entriesRead: 6,
  // The account: at the charge, and when that is written.
  recordsRead: 2,
  searches: 1,
  candidates: 13,
  vectors: 52,
  // None if the text is read on the main thread.
  messagesToThreads: 1,
  // The body and the empty one that Connect gets, the account twice, five entries and their metadata.
  jsonParsed: 14,
  abortControllers: 5,
  derivedSignals: 0,
  // By the adapter of HTTP, for each request that has ended.
  abortsWithoutReason: 1,
  // Its deadline, the model's, the group of charges, and LMDB's for each time that it is read.
  timers: 5,
  logLines: 1,
};
const STORE: Cost = {
  ...RECALL,
  // Of the memory and of its charge: LMDB commits both together.
  transactions: 2,
  entriesRead: 1,
  // The account twice; the namespace's name, the id, and the log's count twice.
  recordsRead: 6,
  searches: 0,
  candidates: 0,
  vectors: 0,
  jsonParsed: 7,
};
/** A recall by meaning and words. */
const HYBRID: Cost = {
  ...RECALL,
  entriesRead: 6,
  candidates: 50,
  vectors: 64,
};
/** Transactions that write the charges of all calls, if they come at once. */
const GROUPS = CALLS / 2;

vi.mock("lmdb", async (load) => {
  const lmdb = await load<typeof import("lmdb")>();
  const open = (options: Parameters<typeof lmdb.open>[0]) => watchDatabase(lmdb.open(options));
  return { ...lmdb, open };
});

const counted: Record<keyof Cost, number> = { ...RECALL };
const agent = new Agent({ keepAlive: true });
let service: Service;
let key: string;
let texts = 0;

beforeAll(async () => {
  watchGlobals();
  const env = unhurried({ DATA_DIR: newDataDir(), PORT: "0", EMBED_WORKERS: "1", FREE_CALLS: "100000" });
  const lines = new Writable({ write: (_chunk, _encoding, done) => done(void counted.logLines++) });
  const { logger, dropped: droppedLines } = openLog("info", lines);
  const stopping = new AbortController().signal;
  service = await openService(loadConfig(env), { logger, droppedLines, stopping });
  key = JSON.parse(await post("/signup", {})).api_key;
  for (let i = 0; i < WARM_UP_CALLS; i++) {
    await store();
    await recall();
  }
}, 60_000);

afterAll(async () => {
  agent.destroy();
  await service?.close({ noticeMs: 0, force: new AbortController().signal });
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("one warm call does no more than it did", () => {
  it("a recall", async () => {
    expect(await costOf(recall)).toEqual(expectedAtMost(RECALL));
  });

  it("a recall by meaning and words", async () => {
    // The first one builds the index of words.
    await recallByBoth();
    expect(await costOf(recallByBoth)).toEqual(expectedAtMost(HYBRID));
  });

  it("a store", async () => {
    expect(await costOf(store)).toEqual(expectedAtMost(STORE));
  });

  it("recalls at once share the transactions of their charges", async () => {
    const before = counted.transactions;
    await Promise.all(Array.from({ length: CALLS }, recall));
    await sleep(SETTLED_MS);
    expect(counted.transactions - before).toBeLessThanOrEqual(GROUPS);
  });
});

/** Counts what a call does on average, to the nearest whole number. */
async function costOf(call: () => Promise<unknown>): Promise<Cost> {
  await sleep(SETTLED_MS);
  const before = { ...counted };
  for (let i = 0; i < CALLS; i++) await call();
  await sleep(SETTLED_MS);
  const each = Object.entries(counted).map(([name, count]) => {
    return [name, Math.round((count - before[name as keyof Cost]) / CALLS)];
  });
  return Object.fromEntries(each);
}

function expectedAtMost(cost: Cost): Cost {
  const atMost = (limit: number) => expect.toSatisfy((count: number) => count <= limit, `at most ${limit}`);
  return Object.fromEntries(Object.entries(cost).map(([name, limit]) => [name, atMost(limit)])) as never;
}

const store = () => post("/store", { namespace: "n", text: newText(), metadata: { n: texts } });
const recall = () => post("/recall", { namespace: "n", query: newText() });
const recallByBoth = () => post("/recall", { namespace: "n", query: newText(), mode: "HYBRID" });
/** Makes a text whose vector is not known yet. */
const newText = () => `the ${++texts}th thing to remember`;

async function post(path: string, body: object): Promise<string> {
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  const sent = request(service.address + path, { method: "POST", agent, headers });
  sent.end(JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const answer = await text(response);
  expect(response.statusCode).toBe(200);
  return answer;
}

function watchGlobals(): void {
  class Counted extends AbortController {
    constructor() {
      super();
      counted.abortControllers++;
    }

    override abort(reason?: unknown): void {
      if (reason === undefined) counted.abortsWithoutReason++;
      super.abort(reason);
    }
  }
  vi.stubGlobal("AbortController", Counted);
  count(AbortSignal, "any", "derivedSignals");
  count(AbortSignal, "timeout", "derivedSignals");
  count(globalThis, "setTimeout", "timers");
  count(globalThis, "setInterval", "timers");
  count(JSON, "parse", "jsonParsed");
  count(Worker.prototype, "postMessage", "messagesToThreads");
  count(UsearchIndex.prototype, "search", "searches", ([{ limit, spare = 3 * limit }]) => {
    counted.candidates += limit;
    counted.vectors += limit + spare;
  });
}

/** Watches the methods that all databases of a file inherit. */
function watchDatabase(root: RootDatabase): RootDatabase {
  let inherited = root;
  while (!Object.hasOwn(inherited, "transaction")) inherited = Object.getPrototypeOf(inherited);
  count(inherited, "transaction", "transactions");
  count(inherited, "getBinaryFast", "entriesRead");
  count(inherited, "get", "recordsRead");
  return root;
}

// biome-ignore lint/suspicious/noExplicitAny: it watches methods of any kind.
type Any = any;

/** Counts the calls of a method. */
function count<T extends object>(
  target: T,
  name: keyof T & string,
  what: keyof Cost,
  also: (this: Any, given: Any[]) => void = () => {},
): void {
  const method = target[name] as Any;
  vi.spyOn(target as Any, name).mockImplementation(function (this: Any, ...given: Any[]) {
    counted[what]++;
    also.call(this, given);
    return method.apply(this, given);
  });
}
