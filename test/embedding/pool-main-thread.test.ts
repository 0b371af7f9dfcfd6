import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WorkerLostError } from "../../src/concurrency/worker-client.js";
import type { Encoded, Prepared, Question } from "../../src/embedding/encode/encoder.js";
import { HELD_MS_MAX, isFast, MainThread, UNITS_MAX } from "../../src/embedding/pool/main-thread.js";
import { ABANDONED_MS_MAX, type EmbedWorker, Pool } from "../../src/embedding/pool/pool.js";
import { type EmbedInput, SERVICE } from "../../src/memory/ports/embedder.js";

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

/** Reads that a test lets go on. */
class Puppet {
  readonly texts: string[] = [];
  readonly #pending: { resolve(embedding: Encoded): void; reject(error: unknown): void }[] = [];

  run(text: string): Promise<Encoded> {
    this.texts.push(text);
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
  }

  async answer(embedding: Partial<Encoded> = {}): Promise<void> {
    this.#pending.shift()?.resolve({ tokens: 1, vector: Float32Array.of(1), ...embedding } as Encoded);
    await nextIteration();
  }

  fail(error: unknown): void {
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }
}

class PuppetWorker extends Puppet implements EmbedWorker {
  onLost: (lost: WorkerLostError) => void = () => {};
  readonly ended = Promise.resolve();

  constructor(readonly msPerCost: number) {
    super();
  }

  encode({ text }: Question): Promise<Encoded> {
    return this.run(text);
  }

  async close(): Promise<void> {}
}

class PuppetEncoder extends Puppet {
  closed = 0;
  /** Number of tokens of each text, or an error. */
  length: number | Error = 3;

  prepare({ text }: Question): Prepared {
    if (this.length instanceof Error) throw this.length;
    return { length: this.length, run: () => this.run(text) };
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

/** Opens a pool with one worker and a main thread; a lost worker starts again when `restarted` resolves. */
async function open({ restarted = Promise.resolve(), msPerCost = 0.1 } = {}) {
  const worker = new PuppetWorker(msPerCost);
  let starts = 0;
  const here = new PuppetEncoder();
  const others = { calls: 0 };
  const pool = await Pool.open({
    workers: 1,
    start: async () => {
      await nextIteration();
      if (++starts > 1) await restarted;
      return worker;
    },
    startMainThread: async () => new MainThread(here, () => others.calls === 0),
  });
  const embed = (text: string, input: Partial<EmbedInput> = {}) => {
    const embedding = pool.embed({ text, field: "query", owner: "acc", ...input });
    embedding.catch(() => {});
    return embedding;
  };
  onTestFinished(async () => {
    for (let i = 0; i < 5; i++) await Promise.all([here.answer(), worker.answer()]);
    await pool.close();
  });
  return { pool, read: embed, worker, here, others };
}

it.each(["query", "text"] as const)("a short %s that is alone is read on the main thread", async (field) => {
  const { read: embed, pool, worker, here } = await open();
  const threads: string[] = [];
  const embedding = embed("tea", { field, onBegin: (thread) => threads.push(thread) });
  expect(pool.waiting[field]).toBe(1);
  await nextIteration();
  expect(here.texts).toEqual(["tea"]);
  expect(pool.waiting[field]).toBe(0);
  await here.answer({ tokens: 7 });
  expect(await embedding).toEqual({ tokens: 7, vectors: Float32Array.of(1) });
  expect(threads).toEqual(["main"]);
  expect(worker.texts).toEqual([]);
});

it("texts that arrive in the same iteration of the event loop are read in threads", async () => {
  const { read: embed, worker, here } = await open();
  for (const text of ["a", "b"]) embed(text, { owner: text });
  await nextIteration();
  expect(worker.texts).toEqual(["a", "b"]);
  expect(here.texts).toEqual([]);
});

it("while the main thread reads, others' texts are read in threads, and an account's next one too", async () => {
  const { read: embed, worker, here } = await open();
  embed("a");
  await nextIteration();
  embed("a2");
  embed("b", { owner: "other" });
  await nextIteration();
  expect(here.texts).toEqual(["a"]);
  expect(worker.texts).toEqual(["a2", "b"]);
  await here.answer();
  await nextIteration();
  embed("a3");
  await nextIteration();
  expect(here.texts).toEqual(["a"]);
  for (let i = 0; i < 3; i++) await worker.answer();
  embed("a4");
  await nextIteration();
  expect(here.texts).toEqual(["a", "a4"]);
});

it.each(["before", "in the same iteration as"] as const)(
  "a text is read in a thread if another call begins %s it",
  async (when) => {
    const { read: embed, worker, here, others } = await open();
    if (when === "before") others.calls++;
    embed("tea");
    others.calls++;
    await nextIteration();
    expect(worker.texts).toEqual(["tea"]);
    expect(here.texts).toEqual([]);
  },
);

describe("is read in a thread, even alone:", () => {
  it.each([
    ["a text of many words", { text: "word ".repeat(39) }],
    ["many blanks", { text: `tea${" ".repeat(UNITS_MAX)}` }],
    ["the service's own text", { owner: SERVICE }],
    ["a short text for a slow model", { msPerCost: HELD_MS_MAX / 12 }],
    ["a short text with more tokens than it seems", { length: 39 }],
  ])("%s", async (_what, { text = "tea", owner = "acc", msPerCost, length = 3 }: Case) => {
    const { read: embed, worker, here } = await open(msPerCost === undefined ? {} : { msPerCost });
    here.length = length;
    embed(text, { owner });
    await nextIteration();
    expect(worker.texts).toEqual([text]);
    expect(here.texts).toEqual([]);
  });
});

interface Case {
  readonly text?: string;
  readonly owner?: string;
  readonly msPerCost?: number;
  readonly length?: number;
}

it("an error on the main thread is about its text alone", async () => {
  const { read: embed, here } = await open();
  const failing = embed("a");
  await nextIteration();
  here.fail(new Error("bad token"));
  await expect(failing).rejects.toMatchObject({ code: "internal", cause: new Error("bad token") });
  here.length = new Error("bad text");
  await expect(embed("b")).rejects.toMatchObject({ code: "internal", cause: new Error("bad text") });
  here.length = 3;
  const next = embed("c");
  await nextIteration();
  await here.answer();
  expect((await next).tokens).toBe(1);
});

it("a text that is broken off before its turn is not read", async () => {
  const { read: embed, worker, here } = await open();
  const leaving = new AbortController();
  const embedding = embed("tea", { signal: leaving.signal });
  leaving.abort(new Error("gone"));
  await expect(embedding).rejects.toThrow("gone");
  await nextIteration();
  expect([...here.texts, ...worker.texts]).toEqual([]);
});

it("a text that comes right after one that was broken off gets its own vector", async () => {
  const { read: embed, worker, here } = await open();
  const gone = new AbortController();
  embed("a", { signal: gone.signal });
  gone.abort();
  const embedding = embed("b", { owner: "other" });
  await nextIteration();
  expect([...here.texts, ...worker.texts]).toEqual(["b"]);
  await Promise.all([here.answer({ tokens: 2 }), worker.answer({ tokens: 2 })]);
  expect((await embedding).tokens).toBe(2);
});

it("a text that is broken off while the main thread reads it counts against its account", async () => {
  const { read: embed, here } = await open();
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const leaving = new AbortController();
  const embedding = embed("tea", { signal: leaving.signal });
  await nextIteration();
  await nextIteration();
  leaving.abort(new Error("gone"));
  await expect(embedding).rejects.toThrow("gone");
  vi.advanceTimersByTime(ABANDONED_MS_MAX);
  await here.answer();
  await expect(embed("more")).rejects.toMatchObject({ reason: "ABANDONED_WORK" });
});

it("closing finishes the text that the main thread reads, and frees its model once", async () => {
  const { pool, read: embed, here } = await open();
  const embedding = embed("tea");
  await nextIteration();
  const closing = pool.close();
  await nextIteration();
  expect(here.closed).toBe(0);
  await here.answer();
  await closing;
  expect((await embedding).tokens).toBe(1);
  await pool.close();
  expect(here.closed).toBe(1);
});

it("closing refuses a text that waits for its turn on the main thread", async () => {
  const { pool, read: embed, here } = await open();
  const embedding = embed("tea");
  await pool.close();
  await expect(embedding).rejects.toMatchObject({ code: "unavailable" });
  await nextIteration();
  expect(here.texts).toEqual([]);
});

it("the main thread reads on while all workers are lost", async () => {
  let restart = () => {};
  const restarted = new Promise<void>((resolve) => {
    restart = resolve;
  });
  const { read: embed, worker, here } = await open({ restarted });
  worker.onLost(new WorkerLostError("lost"));
  const embedding = embed("tea");
  await nextIteration();
  await here.answer();
  expect((await embedding).tokens).toBe(1);
  restart();
});

it("the pool does not open if the main thread's model does not", async () => {
  const opened = Pool.open({
    workers: 1,
    start: async () => new PuppetWorker(0.1),
    startMainThread: () => Promise.reject(new Error("other files")),
  });
  await expect(opened).rejects.toThrow("other files");
});

it.each([
  [0.05, true],
  [0.17, true],
  [0.2, false],
  [3, false],
])("a model that takes %d ms for a cost of 1 is fast enough: %s", (msPerCost, fast) => {
  expect(isFast(msPerCost)).toBe(fast);
});
