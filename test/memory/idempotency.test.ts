import { describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import { IDEMPOTENCY_TTL_MS, Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { store } from "../../src/memory/operations/store.js";
import { storeBatch } from "../../src/memory/operations/store-batch.js";
import { updateMemory } from "../../src/memory/operations/update.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { CALLER, scopeOf } from "./domain.js";
import {
  aProcess,
  asked,
  clock,
  domain,
  endsAt,
  idsInLog,
  never,
  service,
  start,
  undone,
  writing,
  written,
} from "./idempotent-stores.js";

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
    // Now even another body may have the key.
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
    // The failed call was refunded, so this one pays.
    expect([replayed, undone]).toEqual([false, 0]);
    expect(await idsInLog()).toEqual([answered.id]);
  });

  it("says so when the memory that it stored was deleted since", async () => {
    const idempotency = aProcess();
    const { answered } = await idempotency.run(asked("x"), writing("x"));
    await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id: answered.id });
    await expect(idempotency.run(asked("x"), never)).rejects.toMatchObject({
      code: "failed_precondition",
      reason: "IDEMPOTENT_MEMORY_DELETED",
    });
  });

  it.each(["a store", "a batch"])(
    "says so of %s whose answer was not kept, when what it stored was deleted before it comes again",
    async (what) => {
      const lost = () => Promise.reject(unavailable("the database is away"));
      const { claims: kept } = service.storage;
      const claims = withChanges(kept, {
        update: (where, set) => (set.answer ? lost() : kept.update(where, set)),
      });
      const forgetful = new Idempotency({ ...service.storage, claims, clock });
      const run = async (idempotency: Idempotency) => {
        const on = { caller: CALLER, namespace: "a", idempotencyKey: "key" };
        const ports = { ...domain.ports, idempotency };
        if (what === "a store") return store(ports, { ...on, text: "x" });
        const { results } = await storeBatch(ports, { ...on, memories: [{ text: "x" }] });
        return results;
      };
      await expect(run(forgetful)).rejects.toThrow("the database is away");
      const [id = ""] = await idsInLog();
      await deleteMemory(domain.ports, { caller: CALLER, namespace: "a", id });
      const again = run(aProcess());
      if (what === "a store")
        await expect(again).rejects.toMatchObject({ reason: "IDEMPOTENT_MEMORY_DELETED" });
      else expect(await again).toMatchObject([{ error: { reason: "IDEMPOTENT_MEMORY_DELETED" } }]);
      expect(await idsInLog()).toEqual([]);
    },
  );

  describe("with an expire_time", () => {
    const on = () => ({ caller: CALLER, namespace: "a", idempotencyKey: "key" });
    const expiry = () => ({ atMs: Math.ceil(clock.wallMs()) + 60_000 });
    const gone = { code: "failed_precondition", reason: "IDEMPOTENT_MEMORY_DELETED" };

    it("is answered as any retry after it has expired, and is refused if no store came before", async () => {
      const { ports } = service.domain({ clock });
      const request = { ...on(), text: "x", expiry: expiry() };
      const batch = {
        ...on(),
        idempotencyKey: "batch",
        memories: [{ text: "y", expiry: expiry() }, { text: "z" }],
      };
      await store(ports, request);
      const { results } = await storeBatch(ports, batch);
      clock.atMs += 60_001;
      await expect(store(ports, request)).rejects.toMatchObject(gone);
      expect(await storeBatch(ports, batch)).toEqual({
        results: [{ error: expect.objectContaining(gone) }, results[1]],
        replayed: true,
      });
      const past = { code: "invalid_argument", message: "expire_time is not in the future" };
      for (const idempotencyKey of [undefined, "another", "another"]) {
        await expect(store(ports, { ...request, idempotencyKey })).rejects.toMatchObject(past);
        const inBatch = { ...past, message: `memories[0].${past.message}` };
        await expect(storeBatch(ports, { ...batch, idempotencyKey })).rejects.toMatchObject(inBatch);
      }
      expect(await idsInLog()).toHaveLength(3);
    });

    it("stores nothing that has expired when the first attempt comes again", async () => {
      const { ports, namespaces } = service.domain({ clock });
      const append = () => Promise.reject(unavailable("lost"));
      const failing = { ...ports, namespaces: withChanges(namespaces, { append }) };
      const request = { ...on(), text: "x", expiry: expiry() };
      const batch = {
        ...on(),
        idempotencyKey: "batch",
        memories: [{ text: "y", expiry: expiry() }, { text: "z" }],
      };
      const take = {
        claims: withChanges(service.storage.claims, { remove: () => Promise.reject(unavailable("away")) }),
      };
      const idempotency = new Idempotency({ ...service.storage, ...take, clock });
      await expect(store({ ...failing, idempotency }, request)).rejects.toThrow("lost");
      await expect(storeBatch({ ...failing, idempotency }, batch)).rejects.toThrow("lost");
      clock.atMs += 60_001;
      await expect(store(ports, request)).rejects.toMatchObject(gone);
      const { results } = await storeBatch(ports, batch);
      expect(results).toMatchObject([{ error: gone }, { stored: {} }]);
      expect(await idsInLog()).toHaveLength(1);
    });

    it("is answered when an update comes again after it", async () => {
      const { ports } = service.domain({ clock });
      const { stored } = await store(ports, { ...on(), text: "x" });
      const request = { ...on(), idempotencyKey: "update", id: stored.id, expiry: expiry() };
      await updateMemory(ports, request);
      clock.atMs += 60_001;
      await expect(updateMemory(ports, request)).rejects.toMatchObject(gone);
      await expect(updateMemory(ports, { ...request, idempotencyKey: "x" })).rejects.toMatchObject({
        code: "invalid_argument",
      });
    });
  });

  it("tells why it failed also when its key cannot be freed", async () => {
    const away = unavailable("the database is away");
    const claims = withChanges(service.storage.claims, { remove: () => Promise.reject(away) });
    const idempotency = new Idempotency({ ...service.storage, claims, clock });
    const failing = writing("x", {
      before: () => {
        throw unavailable("the model is away");
      },
    });
    await expect(idempotency.run(asked("x"), failing)).rejects.toThrow("the model is away");
  });

  it("has its key for 24 hours", async () => {
    const idempotency = aProcess();
    const { answered } = await idempotency.run(asked("x"), writing("x"));
    clock.wallAheadMs += IDEMPOTENCY_TTL_MS - 1000;
    expect(await idempotency.run(asked("x"), never)).toEqual({ answered, replayed: true });
    clock.wallAheadMs += 1001;
    const again = await idempotency.run(asked("x"), writing("x"));
    expect(again.replayed).toBe(false);
    expect(again.answered.id).not.toBe(answered.id);
    expect(await idsInLog()).toHaveLength(2);
  });
});
