import { afterEach, beforeEach, expect, it } from "vitest";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { store } from "../../src/memory/operations/store.js";
import { storeBatch } from "../../src/memory/operations/store-batch.js";
import { updateMemory } from "../../src/memory/operations/update.js";
import type { Claim, ClaimAnswer } from "../../src/memory/ports/claims.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { HandClock } from "./clock.js";
import { CALLER, TestService } from "./domain.js";

let service: TestService;
let clock: HandClock;
beforeEach(async () => {
  clock = new HandClock();
  service = await TestService.open({ clock });
});
afterEach(() => service.close());

/** Opens a process that notes the last claim and the last answer that it keeps. */
function open() {
  const noted: { claim?: Claim; answer?: ClaimAnswer } = {};
  const claims = withChanges(service.storage.claims, {
    findOrInsert: (claim, nowMs) => {
      noted.claim = claim;
      return service.storage.claims.findOrInsert(claim, nowMs);
    },
    update: (where, set) => {
      if (set.answer) noted.answer = set.answer;
      return service.storage.claims.update(where, set);
    },
  });
  const idempotency = new Idempotency({ ...service.storage, claims, clock });
  const ports = { ...service.domain().ports, idempotency };
  const on = { caller: CALLER, namespace: "a", idempotencyKey: "key" } as const;
  const kept = () => ({
    key: noted.claim?.id,
    request: noted.claim?.requestHash,
    answer: Object.keys(noted.answer ?? {}).sort(),
  });
  return {
    store: async (text: string, more: object = {}) => {
      const { stored } = await store(ports, { ...on, text, ...more });
      return { ...kept(), id: stored.id };
    },
    storeBatch: async (memories: Parameters<typeof storeBatch>[1]["memories"]) => {
      await storeBatch(ports, { ...on, memories });
      return kept();
    },
    updateMemory: async (changes: object) => {
      const id = "mem_01h455vb4pex5vsknk084sn02q";
      await service.write("a", [memoryWith(id)]);
      await updateMemory(ports, { ...on, id, ...changes });
      return kept();
    },
  };
}

function memoryWith(id: string) {
  const vectors = new Float32Array(16).fill(0.25);
  const given = { text: "old", metadata: '{"a":1}', tokens: 1, createdAtMs: 1_000 };
  return { op: "store", opId: id, id, vectors, ...given } as const;
}

// Callers send a request again to whichever version of the program runs by then: its claim must be found, and its
// answer read. These values were written by an earlier one.
const KEY = "acc_1:f9ba5f51eeb2e314732c495bb8366c1058f43a25a812277d4aa7a55de8f740c3";

it.each([
  [
    "a text",
    {},
    "90c1f97dbfc7a5f8b8e1f14d9b99492758d540eeab763f0d2022f986dbaa9af0",
    ["createdAtMs", "paid", "tokens"],
  ],
  [
    "metadata",
    { metadata: { b: [1.5, null], a: "ä" } },
    "cf71c09e575b8e4975d9b81e9c2daecf339e88305e3a30a5593b47e67e482a30",
    ["createdAtMs", "paid", "tokens"],
  ],
  [
    "an event time",
    { eventAtMs: 1_700_000_000_000 },
    "067fad4b7f92570ee9b219e500cb77a879c759334379343a7cba197ab3a03c7a",
    ["createdAtMs", "paid", "tokens"],
  ],
  [
    "an external id and an expiry",
    { externalId: "x", onConflict: "replace", expiry: { ttlMs: 60_000 }, eventAtMs: 5 },
    "d7f4890f364601c3f61ca8c3d049b35ae611d742f532d8b7717796387b243096",
    ["createdAtMs", "etag", "outcome", "paid", "tokens"],
  ],
  [
    "a floor of similarity",
    { similarAbove: 0.5 },
    "46920e58f7b95d06802506c28701f5784e219971cd465d51e3ea3a8c4f7ac041",
    ["createdAtMs", "etag", "outcome", "paid", "similar", "tokens"],
  ],
  [
    "something to do with what is similar",
    { similarAbove: 0.5, onSimilar: "keep" },
    "5c65268c9072f5d223c43fed9d2672a6f4cb7e23227dd4910e22cc5975c049b2",
    ["createdAtMs", "etag", "outcome", "paid", "similar", "tokens"],
  ],
] as const)("a store of %s has the claim that it always had", async (_, more, request, answer) => {
  expect(await open().store("Ana likes tea", more)).toMatchObject({ key: KEY, request, answer });
});

it.each([
  [
    "texts",
    [{ text: "one" }, { text: "two", metadata: { z: 1, a: 2 } }],
    "e8c6749bf4d753c70e893d18f955d0cfeec3a2589e392bd86b84118f7542c9be",
    ["createdAtMs", "paid", "tokens"],
  ],
  [
    "options and times",
    [{ text: "one", externalId: "x", eventAtMs: 5 }, { text: "two" }],
    "058ad34042f90e832648f73e170714be19863f5e984967b6babb210797687af1",
    ["createdAtMs", "paid", "tokens"],
  ],
  [
    "one that is kept",
    [
      { text: "one", externalId: "x" },
      { text: "two", externalId: "x", onConflict: "keep" },
    ],
    "58ce80858c9220c3d797f0dc97009e2d63b9ee016ac4b27f0b8dc13229edabca",
    ["createdAtMs", "kept", "paid", "tokens"],
  ],
] as const)("a batch of %s has the claim that it always had", async (_, memories, request, answer) => {
  expect(await open().storeBatch(memories)).toEqual({ key: KEY, request, answer });
});

it.each([
  ["text", { text: "new" }, "f96e291829e44a8abbd5e0594af94a30b3a67905ca13afea7bd1213d023d68c0"],
  [
    "metadata, merged",
    { metadata: { a: null, b: 2 }, merges: true },
    "aff5453012aebacf363473cdc5fc347b4209960acf54d5d230abbef82ad4df55",
  ],
  [
    "a masked part and a time",
    { metadata: { b: 2 }, mask: ["metadata.b", "event_time"], eventAtMs: 7 },
    "c29413621f13e8c379b6421e9c49ffd703dca573928166be093ad27bad92139b",
  ],
] as const)("an update of %s has the claim that it always had", async (_, changes, request) => {
  expect(await open().updateMemory(changes)).toEqual({
    key: KEY,
    request,
    answer: ["createdAtMs", "id", "paid", "tokens"],
  });
});

it("an update of the same metadata in another order is the same request", async () => {
  const one = await open().updateMemory({ metadata: { a: 1, b: { c: [{ d: 2, e: 3 }], f: 4 } } });
  await service.close();
  service = await TestService.open({ clock });
  const other = await open().updateMemory({ metadata: { b: { f: 4, c: [{ e: 3, d: 2 }] }, a: 1 } });
  expect(other.request).toBe(one.request);
});
