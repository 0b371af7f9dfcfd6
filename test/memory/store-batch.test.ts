import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { unavailable } from "../../src/errors.js";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import { storeBatch } from "../../src/memory/operations/store-batch.js";
import type { Claims } from "../../src/memory/ports/claims.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { CALLER, type Domain, TestService } from "./domain.js";

/** More than are appended at a time. */
const MEMORIES = 70;

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

type Append = Domain["namespaces"]["append"];

/** Makes a function that stores the same batch in a domain that appends in this way, and ones that tell its costs. */
function storing(append: (original: Append) => Append) {
  const { ports, namespaces } = service.domain();
  let charged = 0;
  const quota = {
    ...ports.quota,
    charge: async (_: unknown, calls = 1) => {
      charged += calls;
    },
    refund: async (_: unknown, calls = 1) => {
      charged -= calls;
    },
  };
  const idempotency = new Idempotency({ ...service.storage, clock: systemClock });
  let looks = 0;
  const names = withChanges(ports.names, {
    find: (scope) => {
      looks++;
      return ports.names.find(scope);
    },
  });
  const failing = withChanges(namespaces, { append: append((...given) => namespaces.append(...given)) });
  const memories = Array.from({ length: MEMORIES }, (_, i) => ({ text: `text ${i}` }));
  const store = (given: object = {}) =>
    storeBatch(
      { ...ports, names, namespaces: failing, quota, idempotency },
      { caller: CALLER, namespace: "a", memories, ...given },
    );
  return { store, charged: () => charged, looks: () => looks };
}

/** Stores a batch in a domain whose nth append fails; answers what was charged, too. */
async function storeWithFailure(nth: number) {
  let appends = 0;
  const { store, charged } = storing((append) => async (...args) => {
    if (++appends === nth) throw unavailable("lost");
    return append(...args);
  });
  return { answer: store(), charged };
}

it("is answered again after a few looks at its namespace, not some for each memory", async () => {
  const { store, looks } = storing((append) => append);
  const { results } = await store({ idempotencyKey: "k" });
  const before = looks();
  expect(await store({ idempotencyKey: "k" })).toEqual({ results, replayed: true });
  expect(looks() - before).toBeLessThan(10);
});

describe("a batch that fails on the way", () => {
  it("answers what it has stored, and which memories it has not", async () => {
    const { answer, charged } = await storeWithFailure(2);
    const { results } = await answer;
    const stored = results.filter((each) => "stored" in each);
    expect(results.map((each) => "stored" in each)).toEqual(results.map((_, i) => i < stored.length));
    expect(stored.length).toBeGreaterThan(0);
    expect(results.at(-1)).toMatchObject({ error: { code: "unavailable" } });
    expect(charged()).toBe(stored.length);
    expect(await service.domain().size("a")).toBe(stored.length);
  });

  it("fails as a whole if it has stored nothing, and costs nothing", async () => {
    const { answer, charged } = await storeWithFailure(1);
    await expect(answer).rejects.toMatchObject({ code: "unavailable", message: "lost" });
    expect(charged()).toBe(0);
  });
});

describe("a batch with a key that stored a part", () => {
  const taken = { text: "refused", externalId: "x", onConflict: "refuse" } as const;
  const memories = [{ text: "one" }, taken, { text: "two" }];
  const told = (results: readonly object[]) =>
    results.map((each) => ("error" in each ? (each.error as { reason?: string }).reason : "stored"));

  /** Stores the batch where the second memory is refused. */
  async function storeAPart(claims: Claims) {
    const { ports } = service.domain();
    const idempotency = new Idempotency({ ...service.storage, claims, clock: systemClock });
    const store = (namespace: string, given: object) =>
      storeBatch({ ...ports, idempotency }, { caller: CALLER, namespace, memories, ...given });
    await store("a", { memories: [{ text: "holder", externalId: "x" }] });
    return { ports, again: () => store("a", { idempotencyKey: "k" }) };
  }

  it("brings nothing back that was dropped since, and stores the rest", async () => {
    const { ports, again } = await storeAPart(service.storage.claims);
    expect(told((await again()).results)).toEqual(["stored", "EXTERNAL_ID_TAKEN", "stored"]);
    await deleteNamespace(ports, { caller: CALLER, namespace: "a", force: true });
    const gone = "IDEMPOTENT_MEMORY_DELETED";
    expect(told((await again()).results)).toEqual([gone, "stored", gone]);
    expect(told((await again()).results)).toEqual([gone, "stored", gone]);
    expect(await service.domain().size("a")).toBe(1);
  });

  it("tells nobody what it has stored unless that is kept", async () => {
    const { claims } = service.storage;
    const failing = withChanges<Claims>(claims, {
      update: async (where, set) => {
        if (set.stored !== undefined) throw unavailable("lost");
        return claims.update(where, set);
      },
    });
    const { again } = await storeAPart(failing);
    await expect(again()).rejects.toMatchObject({ code: "unavailable" });
    expect(await service.domain().size("a")).toBe(3);
  });
});

describe("a batch with a key that is tried again costs one call for each memory, though the first try", () => {
  it("was not told that the log has its memories, and was refunded", async () => {
    let isLost = true;
    const { store, charged } = storing((append) => async (scope, appending) => {
      if (!isLost) return append(scope, appending);
      await append(scope, { ...appending, settled: new Map() });
      throw unavailable("lost");
    });
    await expect(store({ idempotencyKey: "k" })).rejects.toThrow("lost");
    expect(charged()).toBe(0);
    isLost = false;
    const { results, replayed } = await store({ idempotencyKey: "k" });
    expect({ replayed, charged: charged() }).toEqual({ replayed: false, charged: MEMORIES });
    expect(results.every((each) => "stored" in each)).toBe(true);
    expect(await service.domain().size("a")).toBe(MEMORIES);
  });

  it("was told of a part when its time was over, and paid for that", async () => {
    const controller = new AbortController();
    const { store, charged } = storing((append) => async (...given) => {
      const isThere = await append(...given);
      controller.abort(new Error("too late"));
      return isThere;
    });
    await expect(store({ idempotencyKey: "k", controller })).rejects.toThrow("too late");
    expect(charged()).toBeGreaterThan(0);
    expect(charged()).toBeLessThan(MEMORIES);
    await store({ idempotencyKey: "k" });
    expect(charged()).toBe(MEMORIES);
    expect(await service.domain().size("a")).toBe(MEMORIES);
  });
});
