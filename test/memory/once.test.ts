import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import type { Stored } from "../../src/memory/log.js";
import {
  IDEMPOTENCY_KEPT_MS,
  Once,
  type OnceRequest,
  type Outcome,
  type Write,
} from "../../src/memory/once.js";
import { entriesOf } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { House, memoryOf, type Room, scopeOf } from "./room.js";

const OWNER_TIMEOUT_MS = 30_000;

let house: House;
let room: Room;
let clock: HandClock;
/** Texts of the memories that were written, in the order they were. */
let written: string[];

beforeEach(async () => {
  house = await House.open();
  room = house.room();
  clock = new HandClock();
  written = [];
});
afterEach(() => house.close());

/** As a process of its own has it. */
const aProcess = ({ exclusive = true } = {}) =>
  new Once({ claims: house.storage.claims, log: house.storage.log, clock, exclusive });

const asked = (text: string, given: Partial<OnceRequest> = {}): OnceRequest => ({
  scope: scopeOf("a"),
  idempotencyKey: "key",
  content: [text, "{}"],
  ...given,
});

const vector = new Float32Array(16).fill(0.25);
/** Stores a text; `before` and `after` come around the moment from which on it may be in the log. */
const writing =
  (text: string, { before, after }: { before?: () => unknown; after?: () => unknown } = {}): Write =>
  async (id, onAppend) => {
    await before?.();
    const entry: Stored = memoryOf({ sequence: 0, vector }, { id, opId: id, text });
    onAppend();
    await room.append("a", entry);
    written.push(text);
    await after?.();
    return entry;
  };
const dies = () => new Promise<never>(() => {});
const never: Write = async () => {
  throw new Error("it must not be written again");
};

const idsInLog = async () => {
  const incarnation = await house.storage.log.find(scopeOf("a"));
  if (incarnation === undefined) return [];
  const entries = await entriesOf(house.storage.log, { incarnation, from: 1, limit: 100 });
  return entries.flatMap(({ entry }) => (entry.op === "store" ? [entry.id] : []));
};
/** Says that it came so far, and never ends. */
const endsAt = (reached: () => void) => () => {
  reached();
  return dies();
};
/** Runs until `reached` is called within; what runs on goes on by itself. */
const start = (once: Once, request: OnceRequest, write: (reached: () => void) => Write) =>
  new Promise<{ running: Promise<Outcome> }>((resolve) => {
    const handle: { running?: Promise<Outcome> } = {};
    const running = once.run(
      request,
      write(() => setImmediate(() => resolve(handle as { running: Promise<Outcome> }))),
    );
    handle.running = running;
    running.catch(() => {});
  });

describe("a store with an idempotency key", () => {
  it("is answered as the first time when it comes again, and writes nothing", async () => {
    const first = await aProcess().run(asked("x"), writing("x"));
    expect(first.replayed).toBe(false);
    for (const once of [aProcess(), aProcess({ exclusive: false })]) {
      expect(await once.run(asked("x"), never)).toEqual({ answered: first.answered, replayed: true });
    }
    expect(await idsInLog()).toEqual([first.answered.id]);
  });

  it.each([
    ["another text", asked("y")],
    ["another namespace", asked("x", { scope: scopeOf("b") })],
    ["text and metadata that are the same only when joined", asked("", { content: ["x{}", ""] })],
  ])("is refused with %s", async (_, other) => {
    const once = aProcess();
    await once.run(asked("x"), writing("x"));
    await expect(once.run(other, never)).rejects.toMatchObject({
      code: "already_exists",
      reason: "IDEMPOTENCY_KEY_REUSED",
    });
  });

  it("is another one with another key, and for another account", async () => {
    const once = aProcess();
    const { answered } = await once.run(asked("x"), writing("x"));
    const other = await once.run(asked("x", { idempotencyKey: "key2" }), writing("x"));
    const scope = { accountId: "acc_2", namespace: "a" };
    const foreign = await once.run(asked("x", { scope }), writing("x"));
    expect(new Set([answered.id, other.answered.id, foreign.answered.id]).size).toBe(3);
  });

  it("stores once when 20 come at once, and tells all the same", async () => {
    const once = aProcess();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => once.run(asked("x"), writing("x"))));
    expect(written).toEqual(["x"]);
    expect(new Set(outcomes.map(({ answered }) => answered.id)).size).toBe(1);
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  it("waits 10 s for the first call at most", async () => {
    const once = aProcess();
    await start(once, asked("x"), (reached) => writing("x", { before: endsAt(reached) }));
    const beganMs = clock.nowMs();
    await expect(once.run(asked("x"), never)).rejects.toMatchObject({
      code: "unavailable",
      message: "a call with this Idempotency-Key is still running",
    });
    expect(clock.nowMs() - beganMs).toBeGreaterThan(10_000);
    expect(clock.nowMs() - beganMs).toBeLessThan(11_000);
  });

  it("is never taken from a call of the same process that still runs, however long that takes", async () => {
    const once = aProcess();
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { running } = await start(once, asked("x"), (reached) =>
      writing("x", {
        before: () => {
          reached();
          return held;
        },
      }),
    );
    clock.wallAheadMs += 3_600_000;
    await expect(once.run(asked("x"), never)).rejects.toMatchObject({ code: "unavailable" });
    goOn();
    const { answered } = await running;
    expect(await idsInLog()).toEqual([answered.id]);
    expect(await once.run(asked("x"), never)).toEqual({ answered, replayed: true });
  });

  it("frees its key when it fails before it may be in the log", async () => {
    const once = aProcess();
    const failing = writing("x", {
      before: () => {
        throw unavailable("the model is away");
      },
    });
    await expect(once.run(asked("x"), failing)).rejects.toThrow("the model is away");
    // Even another body may have it now.
    const { replayed } = await once.run(asked("y"), writing("y"));
    expect(replayed).toBe(false);
    expect(written).toEqual(["y"]);
  });

  it("keeps its key when it fails later, and its memory is found again", async () => {
    const once = aProcess();
    const failing = writing("x", {
      after: () => {
        throw unavailable("no answer");
      },
    });
    await expect(once.run(asked("x"), failing)).rejects.toThrow("no answer");
    await expect(once.run(asked("y"), never)).rejects.toMatchObject({ code: "already_exists" });
    const { answered, replayed } = await once.run(asked("x"), never);
    expect(replayed).toBe(true);
    expect(await idsInLog()).toEqual([answered.id]);
  });

  it("has its key for 24 hours", async () => {
    const once = aProcess();
    const { answered } = await once.run(asked("x"), writing("x"));
    clock.wallAheadMs += IDEMPOTENCY_KEPT_MS - 1000;
    expect(await once.run(asked("x"), never)).toEqual({ answered, replayed: true });
    clock.wallAheadMs += 1001;
    const again = await once.run(asked("x"), writing("x"));
    expect(again.replayed).toBe(false);
    expect(again.answered.id).not.toBe(answered.id);
    expect(await idsInLog()).toHaveLength(2);
  });
});

describe("a store whose owner died", () => {
  const beforeAppend = (reached: () => void) => writing("x", { before: endsAt(reached) });
  const afterAppend = (reached: () => void) => writing("x", { after: endsAt(reached) });

  it("before it appended: is stored by the next call at once, where no other process can be", async () => {
    await start(aProcess(), asked("x"), beforeAppend);
    const { answered, replayed } = await aProcess().run(asked("x"), writing("x"));
    expect(replayed).toBe(false);
    expect(await idsInLog()).toEqual([answered.id]);
  });

  it("after it appended: is answered from the log at once, where no other process can be", async () => {
    await start(aProcess(), asked("x"), afterAppend);
    const { answered, replayed } = await aProcess().run(asked("x"), never);
    expect(replayed).toBe(true);
    expect(await idsInLog()).toEqual([answered.id]);
    expect(await aProcess().run(asked("x"), never)).toEqual({ answered, replayed: true });
  });

  it.each([
    ["before", beforeAppend],
    ["after", afterAppend],
  ])(
    "%s it appended: is left alone until it can make no attempt any more, where it may live",
    async (_, died) => {
      const [first, second] = [aProcess({ exclusive: false }), aProcess({ exclusive: false })];
      await start(first, asked("x"), died);
      await expect(second.run(asked("x"), never)).rejects.toMatchObject({ code: "unavailable" });
      clock.atMs += OWNER_TIMEOUT_MS;
      const { answered } = await second.run(asked("x"), writing("x"));
      expect(await idsInLog()).toEqual([answered.id]);
      expect(written).toEqual(["x"]);
    },
  );

  it("is stored once though several take over at the same moment", async () => {
    await start(aProcess(), asked("x"), beforeAppend);
    const processes = Array.from({ length: 8 }, () => aProcess({ exclusive: false }));
    clock.atMs += OWNER_TIMEOUT_MS;
    const outcomes = await Promise.all(processes.map((once) => once.run(asked("x"), writing("x"))));
    expect(new Set(outcomes.map(({ answered }) => answered.id)).size).toBe(1);
    expect(await idsInLog()).toHaveLength(1);
  });
});
