import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { WorkerLostError } from "../../src/concurrency/worker-client.js";
import type { Encoded, Question } from "../../src/embedding/encode/encoder.js";
import { WAITING_MAX } from "../../src/embedding/pool/embed-queue.js";
import { AHEAD_UNITS_MAX, type EmbedWorker, Pool, type PoolOptions } from "../../src/embedding/pool/pool.js";
import { MemoryError } from "../../src/errors.js";
import { SERVICE } from "../../src/memory/ports/embedder.js";

/** A worker that answers, fails or dies when the test says so. */
class Puppet implements EmbedWorker {
  onLost: (lost: WorkerLostError) => void = () => {};
  /** Resolves when it has ended. Dead ones end at once unless a test makes them stay. */
  ended: Promise<unknown> = Promise.resolve();
  closed = false;
  readonly #pending: { text: string; resolve(embedding: Encoded): void; reject(error: unknown): void }[] = [];

  /** Text that it is reading. */
  get text(): string | undefined {
    return this.#pending[0]?.text.trim().replace(/\s+/g, " ");
  }

  encode({ text }: Question): Promise<Encoded> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ text, resolve, reject });
    });
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  answer(): void {
    this.#pending.shift()?.resolve({ tokens: 1, vector: Float32Array.of(1) });
  }

  /** Answers that a text is too long, and cuts it into its words. */
  cut(): void {
    const { text = "", resolve } = this.#pending.shift() ?? {};
    const parts = [...text.matchAll(/\S+\s*/g)].map(({ index, 0: word }) => ({
      start: index,
      end: index + word.length,
    }));
    resolve?.({ tokens: parts.length, parts });
  }

  fail(error: Error): void {
    this.#pending.shift()?.reject(error);
  }

  die(): void {
    const lost = new WorkerLostError("lost", { cause: new Error("segmentation fault") });
    this.onLost(lost);
    for (const { reject } of this.#pending.splice(0)) reject(lost);
  }
}

async function open(workers: number, options: Partial<PoolOptions> = {}) {
  const puppets: Puppet[] = [];
  const start = async () => {
    // A thread does not start within the tick either.
    await nextIteration();
    const puppet = new Puppet();
    puppets.push(puppet);
    return puppet;
  };
  const pool = await Pool.open({ workers, start, ...options });
  const embed = (
    text: string,
    {
      field = "text",
      signal,
      short = false,
      onBegin,
      owner = "acc",
      inMs,
    }: {
      field?: "text" | "query";
      signal?: AbortSignal;
      short?: boolean;
      onBegin?: () => void;
      owner?: string;
      /** Time until its call's deadline. */
      inMs?: number;
    } = {},
  ) => {
    // It is so long that no worker takes it while it reads another, unless a test asks for a short one.
    const embedding = pool.embed({
      text: short ? text : long(text),
      field,
      owner,
      ...(inMs !== undefined && { deadlineMs: performance.now() + inMs }),
      ...(signal && { signal }),
      ...(onBegin && { onBegin }),
    });
    embedding.catch(() => {});
    return embedding;
  };
  onTestFinished(async () => {
    for (const puppet of puppets) puppet.answer();
    await pool.close();
  });
  return { pool, puppets, read: embed, first: puppets[0] as Puppet };
}

/** Makes a text with its words so far apart that no two of them are read ahead. */
const long = (text: string) =>
  text
    .split(" ")
    .map((word) => word.padEnd(AHEAD_UNITS_MAX))
    .join("");

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until everything that can happen by now has happened, including the start of a worker. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await nextIteration();
}

it("queries go before texts that came earlier", async () => {
  const { first, read: embed } = await open(1);
  for (const text of ["a", "b", "c"]) embed(text);
  embed("q", { field: "query" });
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    order.push(first.text);
    first.answer();
    await settle();
  }
  expect(order).toEqual(["a", "q", "b", "c"]);
});

it.each([
  ["waits for a worker", false],
  ["lies ready at a worker that is at another", true],
])("says of a text that %s that it begins when it is read", async (_how, short) => {
  const { first, read: embed } = await open(1);
  const begun: string[] = [];
  for (const text of ["a", "b"]) embed(text, { short, onBegin: () => begun.push(text) });
  await settle();
  expect(begun).toEqual(["a"]);
  first.answer();
  await settle();
  expect(first.text).toBe("b");
  expect(begun).toEqual(["a", "b"]);
});

it("behind eight queries in a row one text has its turn", async () => {
  const { first, read: embed } = await open(1);
  for (const text of ["a", "b"]) embed(text);
  for (let i = 0; i < 12; i++) embed(`q${i}`, { field: "query" });
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 12; i++) {
    order.push(first.text);
    first.answer();
    await settle();
  }
  expect(order.indexOf("b")).toBe(9);
});

it("a worker gets one more short text while it reads one, and a long one only when it is idle", async () => {
  const { pool, first, read: embed } = await open(1);
  for (const text of ["a", "b", "c"]) embed(text, { short: true });
  expect(pool.waiting.text).toBe(1);
  const order: (string | undefined)[] = [];
  embed("long");
  for (let i = 0; i < 4; i++) {
    order.push(first.text);
    first.answer();
    await settle();
  }
  expect(order).toEqual(["a", "b", "c", "long"]);
});

it("a short text that waited in a lost worker is read again, as often as any", async () => {
  const { puppets, read: embed } = await open(1);
  embed("poison", { short: true });
  const innocent = embed("b", { short: true });
  puppets[0]?.die();
  await settle();
  puppets[1]?.die();
  await settle();
  for (let i = 0; i < 2; i++) puppets[2]?.answer();
  await expect(innocent).resolves.toMatchObject({ tokens: 1 });
});

it("all workers work at once", async () => {
  const { puppets, read: embed } = await open(3);
  for (const text of ["a", "b", "c", "d"]) embed(text);
  expect(puppets.map(({ text }) => text).sort()).toEqual(["a", "b", "c"]);
});

it("texts of an account beyond a quarter of what may wait are unavailable at once, and a query still finds room", async () => {
  const { pool, first, read: embed } = await open(1);
  for (let i = 0; i < WAITING_MAX / 4; i++) embed(`text ${i}`);
  expect(pool.waiting.text).toBe(WAITING_MAX / 4 - 1);
  await expect(embed("one more")).rejects.toMatchObject({ code: "unavailable", retryAfterMs: 1000 });
  embed("query", { field: "query" });
  first.answer();
  await settle();
  expect(first.text).toBe("query");
});

it("however many accounts fill the queue, there is room for the first text of another", async () => {
  const { pool, first, read: embed } = await open(1);
  for (let account = 0; account < 20; account++) {
    for (let i = 0; i < WAITING_MAX; i++) embed(`text ${i}`, { owner: `loud ${account}` });
  }
  expect(pool.waiting.text).toBeLessThan(WAITING_MAX);
  const quiet = embed("quiet", { owner: "quiet" });
  for (let i = 0; i < 22 && first.text !== "quiet"; i++) {
    first.answer();
    await settle();
  }
  first.answer();
  await expect(quiet).resolves.toMatchObject({ tokens: 1 });
});

describe("turns", () => {
  /** Records the order in which texts are read, one worker after another. Long ones are cut into words. */
  async function orderOf(puppets: readonly Puppet[]): Promise<string[]> {
    const order: string[] = [];
    for (;;) {
      const busy = puppets.find(({ text }) => text !== undefined);
      if (busy === undefined) return order;
      const { text = "" } = busy;
      order.push(text);
      if (text.includes(" ")) busy.cut();
      else busy.answer();
      await settle();
    }
  }

  it("of one account the first text is finished first, all of its windows", async () => {
    const { puppets, read: embed } = await open(1);
    embed("a1 a2 a3");
    embed("b1 b2");
    embed("c");
    expect(await orderOf(puppets)).toEqual(["a1 a2 a3", "a1", "a2", "a3", "b1 b2", "b1", "b2", "c"]);
  });

  it("accounts take turns, a window each", async () => {
    const { puppets, read: embed } = await open(1);
    for (const text of ["a1 a2 a3", "b1 b2", "c"]) embed(text, { owner: "loud" });
    for (const text of ["x", "y"]) embed(text, { owner: "quiet" });
    expect(await orderOf(puppets)).toEqual([
      "a1 a2 a3",
      "a1",
      "x",
      "a2",
      "y",
      "a3",
      "b1 b2",
      "b1",
      "b2",
      "c",
    ]);
  });

  it("queries of several accounts take turns too", async () => {
    const { puppets, read: embed } = await open(1);
    for (const text of ["a1 a2 a3", "b"]) embed(text, { owner: "loud", field: "query" });
    embed("x", { owner: "quiet", field: "query" });
    expect(await orderOf(puppets)).toEqual(["a1 a2 a3", "a1", "x", "a2", "a3", "b"]);
  });

  it("workers that one text leaves free read the next one", async () => {
    const { puppets, read: embed } = await open(3);
    embed("a1 a2");
    puppets.find(({ text }) => text === "a1 a2")?.cut();
    await settle();
    embed("b");
    embed("c");
    await settle();
    expect(puppets.map(({ text }) => text).sort()).toEqual(["a1", "a2", "b"]);
  });
});

describe("a deadline", () => {
  /** Makes the pool observe that a text of this length takes this long. */
  async function timed(ms: number) {
    const opened = await open(1);
    const { first, read: embed } = opened;
    const embedding = embed("probe");
    await sleep(ms);
    first.answer();
    await embedding;
    return opened;
  }

  it("that a text cannot keep behind those that wait has it refused at once, with when to come again", async () => {
    const { first, read: embed } = await timed(50);
    for (let i = 0; i < 30; i++) embed(`a${i}`, { inMs: 60_000 });
    const refused = embed("late", { inMs: 1_000 });
    await expect(refused).rejects.toMatchObject({
      code: "unavailable",
      reason: "MODEL_BUSY",
      retryAfterMs: expect.toSatisfy((ms: number) => ms >= 1_000 && ms <= 30_000),
    });
    const other = embed("other", { inMs: 1_000, owner: "quiet" });
    // It reads one window of the account whose turn it is, and then its own.
    for (let i = 0; i < 2; i++) {
      first.answer();
      await settle();
    }
    expect(first.text).toBe("other");
    first.answer();
    await expect(other).resolves.toMatchObject({ tokens: 1 });
  });

  it("does not matter to a text before which nothing waits, nor to the service's own", async () => {
    const { first, read: embed } = await timed(50);
    const alone = embed("alone", { inMs: 10 });
    first.answer();
    await expect(alone).resolves.toMatchObject({ tokens: 1 });
    for (let i = 0; i < 100; i++) embed(`copy ${i}`, { owner: SERVICE });
    expect(first.text).toBe("copy 0");
  });

  it("that a text cannot keep any more, because others have their turns, has it refused before it passes", async () => {
    const { read: embed } = await timed(50);
    embed("a");
    const second = embed("b", { inMs: 600 });
    const begunMs = performance.now();
    await expect(second).rejects.toMatchObject({ code: "unavailable", reason: "MODEL_BUSY" });
    expect(performance.now() - begunMs).toBeLessThan(900);
  });

  it("is judged by a long text's windows as soon as it is cut", async () => {
    const { first, read: embed } = await timed(50);
    const long = embed(Array.from({ length: 400 }, (_, i) => `word${i}`).join(" "), {
      inMs: 1_500,
      short: true,
    });
    first.cut();
    await expect(long).rejects.toMatchObject({ code: "unavailable", reason: "MODEL_BUSY" });
  });
});

describe("calls that are broken off", () => {
  it("leave the queue at once, and their next window is not read", async () => {
    const { pool, first, read: embed } = await open(1);
    const stop = new AbortController();
    const dropped = embed("a1 a2 a3", { signal: stop.signal });
    embed("b");
    first.cut();
    await settle();
    stop.abort(new Error("the caller went away"));
    await expect(dropped).rejects.toThrow("the caller went away");
    expect(pool.waiting.text).toBe(1);
    first.answer();
    await settle();
    expect(first.text).toBe("b");
  });

  it("may cost the model a little time, and then the account has to wait", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { first, read: embed } = await open(1);
    for (let i = 0; i < 10; i++) {
      const stop = new AbortController();
      const dropped = embed("a", { signal: stop.signal, owner: "rude" });
      vi.advanceTimersByTime(1_100);
      stop.abort(new Error("the caller went away"));
      await expect(dropped).rejects.toThrow("the caller went away");
      first.answer();
      await settle();
    }
    await expect(embed("b", { owner: "rude" })).rejects.toMatchObject({
      code: "resource_exhausted",
      reason: "ABANDONED_WORK",
      retryAfterMs: expect.toSatisfy((ms: number) => ms >= 1_000 && ms <= 100_000),
    });
    embed("c", { owner: "polite" });
    expect(first.text).toBe("c");
    first.answer();
    await settle();
    vi.advanceTimersByTime(100_000);
    embed("d", { owner: "rude" });
    expect(first.text).toBe("d");
  });
});

it("an aborted call leaves the queue and answers with the signal's reason", async () => {
  const { pool, first, read: embed } = await open(1);
  embed("a");
  const stop = new AbortController();
  const dropped = embed("b", { signal: stop.signal });
  embed("c");
  stop.abort(new Error("the caller went away"));
  await expect(dropped).rejects.toThrow("the caller went away");
  expect(pool.waiting.text).toBe(1);
  first.answer();
  await settle();
  expect(first.text).toBe("c");
});

it("a call that is aborted while it is read answers at once, and its worker is used again", async () => {
  const { first, read: embed } = await open(1);
  const stop = new AbortController();
  const dropped = embed("a", { signal: stop.signal });
  stop.abort(new Error("too late"));
  await expect(dropped).rejects.toThrow("too late");
  const next = embed("b");
  expect(first.text).toBe("a");
  first.answer();
  await settle();
  first.answer();
  await expect(next).resolves.toMatchObject({ tokens: 1 });
});

it("a call that was aborted before it came is not read", async () => {
  const { first, read: embed } = await open(1);
  await expect(embed("a", { signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow("gone");
  expect(first.text).toBeUndefined();
});

it("a lost worker is replaced and its text read again, before those that wait", async () => {
  const onTrouble = vi.fn();
  const { first, puppets, read: embed } = await open(1, { onTrouble });
  const retried = embed("a");
  embed("b");
  first.die();
  await settle();
  expect(puppets).toHaveLength(2);
  expect(puppets[1]?.text).toBe("a");
  puppets[1]?.answer();
  await expect(retried).resolves.toMatchObject({ tokens: 1 });
  expect(onTrouble).toHaveBeenCalledOnce();
});

it("a text that two workers are lost with is unavailable, and the next one is read", async () => {
  const { puppets, read: embed } = await open(1);
  const poison = embed("poison");
  const next = embed("b");
  puppets[0]?.die();
  await settle();
  puppets[1]?.die();
  await expect(poison).rejects.toMatchObject({ code: "unavailable", cause: { message: "lost" } });
  await settle();
  puppets[2]?.answer();
  await expect(next).resolves.toMatchObject({ tokens: 1 });
});

it("a worker lost while it was idle is replaced before the next text", async () => {
  const { puppets, read: embed } = await open(1);
  puppets[0]?.die();
  const embedding = embed("a");
  await settle();
  puppets[1]?.answer();
  await expect(embedding).resolves.toMatchObject({ tokens: 1 });
});

it("when no worker can be started again, what waits is unavailable rather than stuck", async () => {
  const puppet = new Puppet();
  const start = vi.fn<() => Promise<EmbedWorker>>().mockResolvedValueOnce(puppet);
  start.mockRejectedValue(new Error("the file is gone"));
  const { pool, read: embed } = await open(1, { start });
  const embedding = embed("a");
  puppet.die();
  await expect(embedding).rejects.toMatchObject({
    code: "unavailable",
    cause: { message: "the file is gone" },
  });
  await pool.close();
});

it("workers that are lost but do not end are not replaced for ever", async () => {
  const { pool, puppets, read: embed } = await open(1);
  for (let i = 0; i < 2; i++) {
    const embedding = embed(`text ${i}`);
    const puppet = puppets.at(-1) as Puppet;
    puppet.ended = new Promise(() => {});
    puppet.die();
    await settle();
    if (i === 1) await expect(embedding).rejects.toMatchObject({ code: "unavailable" });
  }
  expect(puppets).toHaveLength(2);
  await pool.close();
});

it("an error about one text is internal, keeps its cause and costs no worker", async () => {
  const { first, puppets, read: embed } = await open(1);
  const embedding = embed("a");
  first.fail(new Error("bad tensor"));
  const error = await embedding.catch((reason) => reason);
  expect(error).toBeInstanceOf(MemoryError);
  expect(error).toMatchObject({ code: "internal", cause: { message: "bad tensor" } });
  embed("b");
  expect(first.text).toBe("b");
  expect(puppets).toHaveLength(1);
});

it("closing lets finish what is read, and refuses what waits or comes", async () => {
  const { pool, first, read: embed } = await open(1);
  const running = embed("a");
  const waiting = embed("b");
  const closed = pool.close();
  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  await expect(embed("c")).rejects.toMatchObject({ code: "unavailable" });
  expect(first.closed).toBe(false);
  first.answer();
  await expect(running).resolves.toMatchObject({ tokens: 1 });
  await closed;
  expect(first.closed).toBe(true);
});

it("a pool of which one worker does not start does not open, and closes the others", async () => {
  const puppet = new Puppet();
  const start = vi.fn<() => Promise<EmbedWorker>>().mockResolvedValueOnce(puppet);
  start.mockRejectedValue(new Error("out of memory"));
  await expect(Pool.open({ workers: 2, start })).rejects.toThrow("out of memory");
  expect(puppet.closed).toBe(true);
});
