import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import { deleteMemory } from "../../src/memory/calls/delete-memory.js";
import {
  IDEMPOTENCY_KEPT_MS,
  Idempotency,
  type IdempotentRequest,
  type IdempotentWork,
  type Outcome,
} from "../../src/memory/idempotency/idempotency.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { entriesOf } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { CALLER, House, memoryOf, type Room, scopeOf } from "./room.js";

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
  undone = 0;
});
afterEach(() => house.close());

/** As a process of its own has it. */
const aProcess = ({ exclusive = true } = {}) =>
  new Idempotency({ claims: house.storage.claims, log: house.storage.log, clock, exclusive });

const asked = (text: string, given: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  scope: scopeOf("a"),
  idempotencyKey: "key",
  content: [text, "{}"],
  ...given,
});

const vector = new Float32Array(16).fill(0.25);
/** How often the charge of an attempt was given back. */
let undone = 0;
/** Stores a text; `before` and `after` come around the moment from which on it may be in the log. */
const writing = (
  text: string,
  {
    before,
    confirmed,
    after,
  }: { before?: () => unknown; confirmed?: () => unknown; after?: () => unknown } = {},
): IdempotentWork => ({
  write: async ({ memoryId: id, confirm }) => {
    await before?.();
    const entry: Stored = memoryOf({ sequence: 0, vector }, { id, opId: id, text });
    const memoryIn = async () => {
      await confirm();
      await confirmed?.();
      return entry;
    };
    await room.namespaces.append(scopeOf("a"), { memoryIn, admit: async () => {}, idempotent: true });
    written.push(text);
    await after?.();
    return entry;
  },
  undo: async () => void undone++,
});
/** A port of which some methods do something else. */
function withChanges<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get: (_, name) => {
      const method = changes[name as keyof T] ?? port[name as keyof T];
      return typeof method === "function" ? method.bind(port) : method;
    },
  });
}
const dies = () => new Promise<never>(() => {});
const never: IdempotentWork = {
  write: async () => {
    throw new Error("it must not be written again");
  },
  undo: async () => {},
};

const idsInLog = async () => {
  const logId = await house.storage.log.find(scopeOf("a"));
  if (logId === undefined) return [];
  const entries = await entriesOf(house.storage.log, { logId, from: 1, limit: 100 });
  return entries.flatMap(({ entry }) => (entry.op === "store" ? [entry.id] : []));
};
/** Says that it came so far, and never ends. */
const endsAt = (reached: () => void) => () => {
  reached();
  return dies();
};
/** Runs until `reached` is called within; what runs on goes on by itself. */
const start = (
  idempotency: Idempotency,
  request: IdempotentRequest,
  work: (reached: () => void) => IdempotentWork,
) =>
  new Promise<{ running: Promise<Outcome> }>((resolve) => {
    const handle: { running?: Promise<Outcome> } = {};
    const running = idempotency.run(
      request,
      work(() => setImmediate(() => resolve(handle as { running: Promise<Outcome> }))),
    );
    handle.running = running;
    running.catch(() => {});
  });

describe("a store with an idempotency key", () => {
  it("is answered as the first time when it comes again, and writes nothing", async () => {
    const first = await aProcess().run(asked("x"), writing("x"));
    expect(first.replayed).toBe(false);
    for (const idempotency of [aProcess(), aProcess({ exclusive: false })]) {
      expect(await idempotency.run(asked("x"), never)).toEqual({ answered: first.answered, replayed: true });
    }
    expect(await idsInLog()).toEqual([first.answered.id]);
  });

  it.each([
    ["another text", asked("y")],
    ["another namespace", asked("x", { scope: scopeOf("b") })],
    ["text and metadata that are the same only when joined", asked("", { content: ["x{}", ""] })],
  ])("is refused with %s", async (_, other) => {
    const idempotency = aProcess();
    await idempotency.run(asked("x"), writing("x"));
    await expect(idempotency.run(other, never)).rejects.toMatchObject({
      code: "already_exists",
      reason: "IDEMPOTENCY_KEY_REUSED",
    });
  });

  it("is known again by the form in which an earlier version compared it, and by no other", async () => {
    const idempotency = aProcess();
    const { answered } = await idempotency.run(asked("x", { content: ["x", '{"b":1,"a":2}'] }), writing("x"));
    const content = ["x", '{"a":2,"b":1}'];
    const again = asked("x", { content, earlierContent: ["x", '{"b":1,"a":2}'] });
    expect(await idempotency.run(again, never)).toEqual({ answered, replayed: true });
    const other = asked("x", { content, earlierContent: ["x", '{"b":1,"a":3}'] });
    await expect(idempotency.run(other, never)).rejects.toMatchObject({ code: "already_exists" });
  });

  it("is another one with another key, and for another account", async () => {
    const idempotency = aProcess();
    const { answered } = await idempotency.run(asked("x"), writing("x"));
    const other = await idempotency.run(asked("x", { idempotencyKey: "key2" }), writing("x"));
    const scope = { accountId: "acc_2", namespace: "a" };
    const foreign = await idempotency.run(asked("x", { scope }), writing("x"));
    expect(new Set([answered.id, other.answered.id, foreign.answered.id]).size).toBe(3);
  });

  it("stores once when 20 come at once, and tells all the same", async () => {
    const idempotency = aProcess();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => idempotency.run(asked("x"), writing("x"))),
    );
    expect(written).toEqual(["x"]);
    expect(new Set(outcomes.map(({ answered }) => answered.id)).size).toBe(1);
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
  });

  it("waits 10 s for the first call at most", async () => {
    const idempotency = aProcess();
    await start(idempotency, asked("x"), (reached) => writing("x", { before: endsAt(reached) }));
    const beganMs = clock.nowMs();
    await expect(idempotency.run(asked("x"), never)).rejects.toMatchObject({
      code: "unavailable",
      message: "a call with this Idempotency-Key is still running",
    });
    expect(clock.nowMs() - beganMs).toBeGreaterThan(10_000);
    expect(clock.nowMs() - beganMs).toBeLessThan(11_000);
  });

  it("is never taken from a call of the same process that still runs, however long that takes", async () => {
    const idempotency = aProcess();
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { running } = await start(idempotency, asked("x"), (reached) =>
      writing("x", {
        before: () => {
          reached();
          return held;
        },
      }),
    );
    clock.wallAheadMs += 3_600_000;
    await expect(idempotency.run(asked("x"), never)).rejects.toMatchObject({ code: "unavailable" });
    goOn();
    const { answered } = await running;
    expect(await idsInLog()).toEqual([answered.id]);
    expect(await idempotency.run(asked("x"), never)).toEqual({ answered, replayed: true });
  });

  it("frees its key when it fails before it may be in the log", async () => {
    const idempotency = aProcess();
    const failing = writing("x", {
      before: () => {
        throw unavailable("the model is away");
      },
    });
    await expect(idempotency.run(asked("x"), failing)).rejects.toThrow("the model is away");
    // Even another body may have it now.
    const { replayed } = await idempotency.run(asked("y"), writing("y"));
    expect(replayed).toBe(false);
    expect(written).toEqual(["y"]);
  });

  it("keeps its key when it fails later, and its memory is stored no second time", async () => {
    const idempotency = aProcess();
    const failing = writing("x", {
      after: () => {
        throw unavailable("no answer");
      },
    });
    await expect(idempotency.run(asked("x"), failing)).rejects.toThrow("no answer");
    await expect(idempotency.run(asked("y"), never)).rejects.toMatchObject({ code: "already_exists" });
    const { answered, replayed } = await idempotency.run(asked("x"), writing("x"));
    // The failed call was given back, so this one pays.
    expect([replayed, undone]).toEqual([false, 0]);
    expect(await idsInLog()).toEqual([answered.id]);
  });

  it("says so when the memory that it stored was deleted since", async () => {
    const idempotency = aProcess();
    const { answered } = await idempotency.run(asked("x"), writing("x"));
    await deleteMemory(room.ports, { caller: CALLER, namespace: "a", id: answered.id });
    await expect(idempotency.run(asked("x"), never)).rejects.toMatchObject({
      code: "failed_precondition",
      reason: "IDEMPOTENT_MEMORY_DELETED",
    });
  });

  it("tells why it failed also when its key cannot be freed", async () => {
    const troubles: unknown[] = [];
    const away = unavailable("the database is away");
    const claims = withChanges(house.storage.claims, { release: () => Promise.reject(away) });
    const { log } = house.storage;
    const onTrouble = (error: unknown) => troubles.push(error);
    const idempotency = new Idempotency({ claims, log, clock, exclusive: true, onTrouble });
    const failing = writing("x", {
      before: () => {
        throw unavailable("the model is away");
      },
    });
    await expect(idempotency.run(asked("x"), failing)).rejects.toThrow("the model is away");
    expect(troubles).toEqual([away]);
  });

  it("has its key for 24 hours", async () => {
    const idempotency = aProcess();
    const { answered } = await idempotency.run(asked("x"), writing("x"));
    clock.wallAheadMs += IDEMPOTENCY_KEPT_MS - 1000;
    expect(await idempotency.run(asked("x"), never)).toEqual({ answered, replayed: true });
    clock.wallAheadMs += 1001;
    const again = await idempotency.run(asked("x"), writing("x"));
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

  it("after it appended: is not stored again by the next call, where no other process can be", async () => {
    await start(aProcess(), asked("x"), afterAppend);
    const { answered, replayed } = await aProcess().run(asked("x"), writing("x"));
    expect(replayed).toBe(false);
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
    },
  );

  it.each(["before it confirmed", "behind that"])(
    "and that only slept, %s, brings back nothing that was deleted meanwhile",
    async (where) => {
      let wake = () => {};
      const asleep = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { running } = await start(aProcess({ exclusive: false }), asked("x"), (reached) => {
        const sleeps = () => {
          reached();
          return asleep;
        };
        return writing("x", where === "behind that" ? { confirmed: sleeps } : { before: sleeps });
      });
      clock.atMs += OWNER_TIMEOUT_MS;
      const { answered } = await aProcess({ exclusive: false }).run(asked("x"), writing("x"));
      await deleteMemory(room.ports, { caller: CALLER, namespace: "a", id: answered.id });
      wake();
      await running.catch(() => {});
      expect(await idsInLog()).toEqual([]);
    },
  );

  it("is stored once though one that took over fails, and a third one stores before the first goes on", async () => {
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const other = () => aProcess({ exclusive: false });
    const { running } = await start(other(), asked("x"), (reached) => {
      const confirmed = () => {
        reached();
        return asleep;
      };
      return writing("x", { confirmed });
    });
    clock.atMs += OWNER_TIMEOUT_MS;
    const before = () => Promise.reject(unavailable("the model is away"));
    await expect(other().run(asked("x"), writing("x", { before }))).rejects.toThrow("the model is away");
    // At once: the one that failed has let the key go.
    const { answered } = await other().run(asked("x"), writing("x"));
    wake();
    expect((await running).answered.id).toBe(answered.id);
    expect(await idsInLog()).toEqual([answered.id]);
    // The first one's answer came second, so its charge was given back.
    expect(undone).toBe(1);
  });

  it("and whose write lands late is found by the call that took over, while that embeds", async () => {
    let late: (() => Promise<number>) | undefined;
    const { log } = house.storage;
    const stalls = withChanges(log, {
      append: (batch) => {
        late = () => log.append(batch);
        return new Promise(() => {});
      },
    });
    await room.append("a", memoryOf({ sequence: 1, vector }));
    const stalled = house.room({ log: stalls });
    const first: IdempotentWork = {
      write: async ({ memoryId: id, confirm }) => {
        const entry: Stored = memoryOf({ sequence: 0, vector }, { id, opId: id, text: "x" });
        const memoryIn = () => confirm().then(() => entry);
        await stalled.namespaces.append(scopeOf("a"), { memoryIn, admit: async () => {}, idempotent: true });
        return entry;
      },
      undo: async () => {},
    };
    void aProcess({ exclusive: false }).run(asked("x"), first);
    while (late === undefined) await new Promise((resolve) => setImmediate(resolve));
    clock.atMs += OWNER_TIMEOUT_MS;
    const lands = async () => {
      await late?.();
      // Some recall reads it, so that the appender does not meet it any more.
      await room.size("a");
    };
    const { answered } = await aProcess({ exclusive: false }).run(
      asked("x"),
      writing("x", { before: lands }),
    );
    expect((await idsInLog()).filter((id) => id === answered.id)).toHaveLength(1);
  });

  it("is stored once though several take over at the same moment", async () => {
    await start(aProcess(), asked("x"), beforeAppend);
    const processes = Array.from({ length: 8 }, () => aProcess({ exclusive: false }));
    clock.atMs += OWNER_TIMEOUT_MS;
    const outcomes = await Promise.all(
      processes.map((idempotency) => idempotency.run(asked("x"), writing("x"))),
    );
    expect(new Set(outcomes.map(({ answered }) => answered.id)).size).toBe(1);
    expect(await idsInLog()).toHaveLength(1);
  });
});
