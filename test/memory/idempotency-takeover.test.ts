import { describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import { Idempotency, type IdempotentWork } from "../../src/memory/idempotency/idempotency.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { store } from "../../src/memory/operations/store.js";
import { updateMemory } from "../../src/memory/operations/update.js";
import type { Stored } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { appendTo, CALLER, memoryOf } from "./domain.js";
import {
  aProcess,
  asked,
  clock,
  domain,
  endsAt,
  idsInLog,
  never,
  OWNER_TIMEOUT_MS,
  service,
  start,
  undone,
  vector,
  writing,
} from "./idempotent-stores.js";

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

  it("is stored by another process though the clock was set back by an hour since", async () => {
    const other = () => aProcess({ exclusive: false });
    await start(other(), asked("x"), afterAppend);
    clock.wallAheadMs -= 3_600_000;
    const { answered } = await other().run(asked("x"), writing("x"));
    expect(await idsInLog()).toEqual([answered.id]);
  });

  it.each(["before it confirmed", "after that"])(
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
        return writing("x", where === "after that" ? { confirmed: sleeps } : { before: sleeps });
      });
      clock.atMs += OWNER_TIMEOUT_MS;
      const { answered } = await aProcess({ exclusive: false }).run(asked("x"), writing("x"));
      await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: answered.id });
      wake();
      // The one that had not confirmed has waited too long already.
      const reason = where === "after that" ? "IDEMPOTENT_MEMORY_DELETED" : undefined;
      await expect(running).rejects.toMatchObject({ reason });
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
    // It comes at once, because the call that failed has released the key.
    const { answered } = await other().run(asked("x"), writing("x"));
    wake();
    expect((await running).answered.id).toBe(answered.id);
    expect(await idsInLog()).toEqual([answered.id]);
    // The first call's answer came second, so its charge was refunded.
    expect(undone).toBe(1);
  });

  it("is stored once though its first owner only slept, takes over from one that died, and fails before it stores", async () => {
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const other = () => aProcess({ exclusive: false });
    const { running } = await start(other(), asked("x"), (reached) => {
      let attempts = 0;
      const before = () => {
        if (++attempts > 1) throw unavailable("the model is away");
        reached();
        return asleep;
      };
      return writing("x", { before });
    });
    // The steady clock stands still while a machine sleeps.
    clock.wallAheadMs += OWNER_TIMEOUT_MS;
    await start(other(), asked("x"), afterAppend);
    clock.wallAheadMs += OWNER_TIMEOUT_MS;
    wake();
    await expect(running).rejects.toThrow("the model is away");
    const { answered } = await other().run(asked("x"), writing("x"));
    expect(await idsInLog()).toEqual([answered.id]);
  });

  it("and whose write lands late is found by the call that took over, while that embeds", async () => {
    let late: (() => Promise<number>) | undefined;
    const { log } = service.storage;
    const stalls = withChanges(log, {
      append: (batch) => {
        late = () => log.append(batch);
        return new Promise(() => {});
      },
    });
    await domain.append("a", memoryOf({ sequence: 1, vector }));
    const stalled = service.domain({ log: stalls });
    const first: IdempotentWork = {
      write: async ({ memoryId: id, confirm }) => {
        const entry: Stored = memoryOf({ sequence: 0, vector }, { id, opId: id, text: "x" });
        const memoryIn = () => confirm().then(() => entry);
        await appendTo(stalled.namespaces, "a", { memoryIn, idempotent: true });
        return { id, tokens: entry.tokens, createdAtMs: entry.createdAtMs };
      },
      stored: () => [],
      undo: async () => {},
    };
    void aProcess({ exclusive: false }).run(asked("x"), first);
    while (late === undefined) await new Promise((resolve) => setImmediate(resolve));
    clock.atMs += OWNER_TIMEOUT_MS;
    const lands = async () => {
      await late?.();
      // A recall reads it, so that the appender does not meet it any more.
      await domain.size("a");
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

describe("a store with a key that is tried again costs one call, though the first try", () => {
  const lost = () => Promise.reject(unavailable("lost"));
  let left = 0;
  /** Stores in a process of its own, by a plan of one call. */
  const storeOnce = (
    { answer, append }: { answer?: () => Promise<boolean>; append?: typeof domain.namespaces.append } = {},
    more: object = {},
  ) => {
    const { ports } = domain;
    const quota = {
      ...ports.quota,
      charge: async () => {
        if (left < 1) throw new Error("no calls are left");
        left -= 1;
      },
      refund: async (_: unknown, calls = 1) => {
        left += calls;
      },
    };
    const { claims } = service.storage;
    const all = withChanges(claims, {
      update: (where, set) => (answer && set.answer ? answer() : claims.update(where, set)),
    });
    const idempotency = new Idempotency({ ...service.storage, claims: all, clock, exclusive: true });
    const namespaces = append ? withChanges(domain.namespaces, { append }) : domain.namespaces;
    const request = { caller: CALLER, namespace: "a", text: "x", idempotencyKey: "key", ...more };
    return store({ ...ports, quota, idempotency, namespaces }, request);
  };

  it("was killed before it kept its answer", async () => {
    left = 1;
    await new Promise<void>((reached) => {
      void storeOnce({ answer: endsAt(reached) });
    });
    const { stored, replayed } = await storeOnce();
    expect({ left, replayed, ids: await idsInLog() }).toEqual({ left: 0, replayed: false, ids: [stored.id] });
  });

  it("was killed before it kept its answer, and the second could not keep it either", async () => {
    left = 1;
    await new Promise<void>((reached) => {
      void storeOnce({ answer: endsAt(reached) });
    });
    await expect(storeOnce({ answer: lost })).rejects.toThrow("lost");
    await storeOnce();
    expect(left).toBe(0);
  });

  it("could not keep its answer", async () => {
    left = 1;
    await expect(storeOnce({ answer: lost })).rejects.toThrow("lost");
    await storeOnce();
    expect(left).toBe(0);
  });

  it("was not told that the log has its memory, and was refunded", async () => {
    left = 2;
    const append: typeof domain.namespaces.append = async (...given) => {
      await domain.namespaces.append(given[0], { ...given[1], settled: new Map() });
      throw unavailable("lost");
    };
    await expect(storeOnce({ append })).rejects.toThrow("lost");
    expect(left).toBe(2);
    await storeOnce();
    expect({ left, ids: (await idsInLog()).length }).toEqual({ left: 1, ids: 1 });
  });

  it("was killed, and asked for similar memories, which the second try lists", async () => {
    left = 1;
    const more = { similarAbove: 0.5 };
    await new Promise<void>((reached) => {
      void storeOnce({ answer: endsAt(reached) }, more);
    });
    const { stored } = await storeOnce({}, more);
    expect({ left, similar: stored.similar }).toEqual({ left: 0, similar: [] });
  });
});

it("a confirmation that arrives a second time does not take a key that was freed since", async () => {
  const { claims } = service.storage;
  const sent: Parameters<typeof claims.update>[] = [];
  const noting = withChanges(claims, {
    update: (...change) => {
      sent.push(change);
      return claims.update(...change);
    },
  });
  const failing: IdempotentWork = {
    ...never,
    write: async ({ confirm }) => {
      await confirm();
      throw unavailable("lost");
    },
  };
  const process = new Idempotency({ ...service.storage, claims: noting, clock, exclusive: false });
  await expect(process.run(asked("x"), failing)).rejects.toThrow("lost");
  const confirmation = sent[0] as Parameters<typeof claims.update>;
  expect(confirmation[1]).toMatchObject({ refunded: false });
  expect(await claims.update(...confirmation)).toBe(false);
  // The charge was given back, and the next attempt is told so at once.
  let refunded: boolean | undefined;
  const next = writing("x");
  await aProcess({ exclusive: false }).run(asked("x"), {
    ...next,
    write: (attempt) => {
      refunded = attempt.isRefunded;
      return next.write(attempt);
    },
  });
  expect(refunded).toBe(true);
});

describe("an update with a key, whose first attempt sleeps before it appends, costs one call", () => {
  it.each([0, 3_600_000])("though a clock that was %i ms ahead wrote the version before", async (aheadMs) => {
    let charged = 0;
    let wake: (() => void) | undefined;
    /** The ports of a process of its own, whose append waits until it is woken. */
    const portsOf = (sleeps = false): typeof domain.ports => {
      const { storage } = service;
      const log = withChanges(storage.log, {
        append: async (batch) => {
          if (sleeps) await new Promise<void>((resolve) => (wake = resolve));
          return storage.log.append(batch);
        },
      });
      const { ports } = service.domain({ log, clock });
      const change =
        (sign: number) =>
        async (_: unknown, calls = 1) => {
          charged += sign * calls;
        };
      const quota = { ...ports.quota, charge: change(1), refund: change(-1) };
      return { ...ports, quota, idempotency: new Idempotency({ ...storage, clock, exclusive: false }) };
    };
    clock.wallAheadMs += aheadMs;
    const { stored } = await store(portsOf(), { caller: CALLER, namespace: "a", text: "x" });
    clock.wallAheadMs -= aheadMs;
    charged = 0;
    const asked = { caller: CALLER, namespace: "a", id: stored.id, text: "y", idempotencyKey: "key" };
    const first = updateMemory(portsOf(true), asked);
    while (wake === undefined) await new Promise((resolve) => setImmediate(resolve));
    clock.wallAheadMs += OWNER_TIMEOUT_MS;
    await updateMemory(portsOf(), asked);
    wake();
    await first;
    expect(charged).toBe(1);
  });
});
