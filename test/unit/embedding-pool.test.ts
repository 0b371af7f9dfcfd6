import { expect, it, onTestFinished, vi } from "vitest";
import type { Question, Reading } from "../../src/embedding/encoder.js";
import {
  AHEAD_UNITS_MAX,
  Pool,
  type PoolOptions,
  type Reader,
  ReaderLost,
} from "../../src/embedding/pool.js";
import { WAITING_MAX } from "../../src/embedding/waiting.js";
import { MemoryError } from "../../src/errors.js";

/** A reader that answers, fails or dies when the test says so. */
class Puppet implements Reader {
  onLost: (lost: ReaderLost) => void = () => {};
  /** Dead ones are gone at once; a test may have them stay. */
  ended: Promise<unknown> = Promise.resolve();
  closed = false;
  readonly #pending: { text: string; resolve(reading: Reading): void; reject(error: unknown): void }[] = [];

  /** What it is reading. */
  get text(): string | undefined {
    return this.#pending[0]?.text.trim();
  }

  read({ text }: Question): Promise<Reading> {
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

  fail(error: Error): void {
    this.#pending.shift()?.reject(error);
  }

  die(): void {
    const lost = new ReaderLost("lost", { cause: new Error("segmentation fault") });
    this.onLost(lost);
    for (const { reject } of this.#pending.splice(0)) reject(lost);
  }
}

async function open(readers: number, options: Partial<PoolOptions> = {}) {
  const puppets: Puppet[] = [];
  const start = async () => {
    // A thread does not start within the tick either.
    await nextTurn();
    const puppet = new Puppet();
    puppets.push(puppet);
    return puppet;
  };
  const pool = await Pool.open({ readers, start, ...options });
  const read = (
    text: string,
    {
      field = "text",
      signal,
      short = false,
      onBegin,
    }: {
      field?: "text" | "query";
      signal?: AbortSignal;
      short?: boolean;
      onBegin?: () => void;
    } = {},
  ) => {
    // So long that no reader takes it while it reads another, unless a test asks for a short one.
    const reading = pool.read({
      text: short ? text : text.padEnd(AHEAD_UNITS_MAX),
      field,
      ...(signal && { signal }),
      ...(onBegin && { onBegin }),
    });
    reading.catch(() => {});
    return reading;
  };
  onTestFinished(async () => {
    for (const puppet of puppets) puppet.answer();
    await pool.close();
  });
  return { pool, puppets, read, first: puppets[0] as Puppet };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets everything that can happen by now happen, the start of a reader too. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await nextTurn();
}

it("queries go before texts that came earlier", async () => {
  const { first, read } = await open(1);
  for (const text of ["a", "b", "c"]) read(text);
  read("q", { field: "query" });
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 4; i++) {
    order.push(first.text);
    first.answer();
    await settle();
  }
  expect(order).toEqual(["a", "q", "b", "c"]);
});

it.each([
  ["waits for a reader", false],
  ["lies ready at a reader that is at another", true],
])("says of a text that %s that it begins when it is read", async (_how, short) => {
  const { first, read } = await open(1);
  const begun: string[] = [];
  for (const text of ["a", "b"]) read(text, { short, onBegin: () => begun.push(text) });
  await settle();
  expect(begun).toEqual(["a"]);
  first.answer();
  await settle();
  expect(first.text).toBe("b");
  expect(begun).toEqual(["a", "b"]);
});

it("behind eight queries in a row one text has its turn", async () => {
  const { first, read } = await open(1);
  for (const text of ["a", "b"]) read(text);
  for (let i = 0; i < 12; i++) read(`q${i}`, { field: "query" });
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 12; i++) {
    order.push(first.text);
    first.answer();
    await settle();
  }
  expect(order.indexOf("b")).toBe(9);
});

it("a reader gets one more short text while it reads one, and a long one only when it is idle", async () => {
  const { pool, first, read } = await open(1);
  for (const text of ["a", "b", "c"]) read(text, { short: true });
  expect(pool.waiting.text).toBe(1);
  const order: (string | undefined)[] = [];
  read("long");
  for (let i = 0; i < 4; i++) {
    order.push(first.text);
    first.answer();
    await settle();
  }
  expect(order).toEqual(["a", "b", "c", "long"]);
});

it("a short text that waited in a lost reader is read again, as often as any", async () => {
  const { puppets, read } = await open(1);
  read("poison", { short: true });
  const innocent = read("b", { short: true });
  puppets[0]?.die();
  await settle();
  puppets[1]?.die();
  await settle();
  for (let i = 0; i < 2; i++) puppets[2]?.answer();
  await expect(innocent).resolves.toMatchObject({ tokens: 1 });
});

it("all readers work at once", async () => {
  const { puppets, read } = await open(3);
  for (const text of ["a", "b", "c", "d"]) read(text);
  expect(puppets.map(({ text }) => text).sort()).toEqual(["a", "b", "c"]);
});

it("a text beyond what may wait is unavailable at once, and a query still finds room", async () => {
  const { pool, first, read } = await open(1);
  for (let i = 0; i < WAITING_MAX + 1; i++) read(`text ${i}`);
  expect(pool.waiting.text).toBe(WAITING_MAX);
  await expect(read("one more")).rejects.toMatchObject({ code: "unavailable", retryAfterMs: 1000 });
  read("query", { field: "query" });
  first.answer();
  await settle();
  expect(first.text).toBe("query");
});

it("an aborted call leaves the queue and answers with the signal's reason", async () => {
  const { pool, first, read } = await open(1);
  read("a");
  const stop = new AbortController();
  const dropped = read("b", { signal: stop.signal });
  read("c");
  stop.abort(new Error("the caller went away"));
  await expect(dropped).rejects.toThrow("the caller went away");
  expect(pool.waiting.text).toBe(1);
  first.answer();
  await settle();
  expect(first.text).toBe("c");
});

it("a call that is aborted while it is read answers at once, and its reader is used again", async () => {
  const { first, read } = await open(1);
  const stop = new AbortController();
  const dropped = read("a", { signal: stop.signal });
  stop.abort(new Error("too late"));
  await expect(dropped).rejects.toThrow("too late");
  const next = read("b");
  expect(first.text).toBe("a");
  first.answer();
  await settle();
  first.answer();
  await expect(next).resolves.toMatchObject({ tokens: 1 });
});

it("a call that was aborted before it came is not read", async () => {
  const { first, read } = await open(1);
  await expect(read("a", { signal: AbortSignal.abort(new Error("gone")) })).rejects.toThrow("gone");
  expect(first.text).toBeUndefined();
});

it("a lost reader is replaced and its text read again, before those that wait", async () => {
  const onTrouble = vi.fn();
  const { first, puppets, read } = await open(1, { onTrouble });
  const retried = read("a");
  read("b");
  first.die();
  await settle();
  expect(puppets).toHaveLength(2);
  expect(puppets[1]?.text).toBe("a");
  puppets[1]?.answer();
  await expect(retried).resolves.toMatchObject({ tokens: 1 });
  expect(onTrouble).toHaveBeenCalledOnce();
});

it("a text that two readers are lost with is unavailable, and the next one is read", async () => {
  const { puppets, read } = await open(1);
  const poison = read("poison");
  const next = read("b");
  puppets[0]?.die();
  await settle();
  puppets[1]?.die();
  await expect(poison).rejects.toMatchObject({ code: "unavailable", cause: { message: "lost" } });
  await settle();
  puppets[2]?.answer();
  await expect(next).resolves.toMatchObject({ tokens: 1 });
});

it("a reader lost while it was idle is replaced before the next text", async () => {
  const { puppets, read } = await open(1);
  puppets[0]?.die();
  const reading = read("a");
  await settle();
  puppets[1]?.answer();
  await expect(reading).resolves.toMatchObject({ tokens: 1 });
});

it("when no reader can be started again, what waits is unavailable rather than stuck", async () => {
  const puppet = new Puppet();
  const start = vi.fn<() => Promise<Reader>>().mockResolvedValueOnce(puppet);
  start.mockRejectedValue(new Error("the file is gone"));
  const { pool, read } = await open(1, { start });
  const reading = read("a");
  puppet.die();
  await expect(reading).rejects.toMatchObject({
    code: "unavailable",
    cause: { message: "the file is gone" },
  });
  await pool.close();
});

it("readers that are lost but do not end are not replaced for ever", async () => {
  const { pool, puppets, read } = await open(1);
  for (let i = 0; i < 2; i++) {
    const reading = read(`text ${i}`);
    const puppet = puppets.at(-1) as Puppet;
    puppet.ended = new Promise(() => {});
    puppet.die();
    await settle();
    if (i === 1) await expect(reading).rejects.toMatchObject({ code: "unavailable" });
  }
  expect(puppets).toHaveLength(2);
  await pool.close();
});

it("an error about one text is internal, keeps its cause and costs no reader", async () => {
  const { first, puppets, read } = await open(1);
  const reading = read("a");
  first.fail(new Error("bad tensor"));
  const error = await reading.catch((reason) => reason);
  expect(error).toBeInstanceOf(MemoryError);
  expect(error).toMatchObject({ code: "internal", cause: { message: "bad tensor" } });
  read("b");
  expect(first.text).toBe("b");
  expect(puppets).toHaveLength(1);
});

it("closing lets finish what is read, and refuses what waits or comes", async () => {
  const { pool, first, read } = await open(1);
  const running = read("a");
  const waiting = read("b");
  const closed = pool.close();
  await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
  await expect(read("c")).rejects.toMatchObject({ code: "unavailable" });
  expect(first.closed).toBe(false);
  first.answer();
  await expect(running).resolves.toMatchObject({ tokens: 1 });
  await closed;
  expect(first.closed).toBe(true);
});

it("a pool of which one reader does not start does not open, and closes the others", async () => {
  const puppet = new Puppet();
  const start = vi.fn<() => Promise<Reader>>().mockResolvedValueOnce(puppet);
  start.mockRejectedValue(new Error("out of memory"));
  await expect(Pool.open({ readers: 2, start })).rejects.toThrow("out of memory");
  expect(puppet.closed).toBe(true);
});
