import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { unavailable } from "../../src/errors.js";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { deleteNamespace } from "../../src/memory/operations/delete-namespace.js";
import { storeBatch } from "../../src/memory/operations/store-batch.js";
import type { Claims } from "../../src/memory/ports/claims.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { CALLER, TestService } from "./domain.js";

/** More than are appended at a time. */
const MEMORIES = 70;

let service: TestService;
beforeEach(async () => {
  service = await TestService.open();
});
afterEach(() => service.close());

/** Stores a batch in a domain whose nth append fails; answers what was charged, too. */
async function storeWithFailure(nth: number) {
  const { ports, namespaces } = service.domain();
  let appends = 0;
  const failing = withChanges(namespaces, {
    append: async (...args) => {
      if (++appends === nth) throw unavailable("lost");
      return namespaces.append(...args);
    },
  });
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
  const memories = Array.from({ length: MEMORIES }, (_, i) => ({ text: `text ${i}` }));
  const asked = { caller: CALLER, namespace: "a", memories };
  const answer = storeBatch({ ...ports, namespaces: failing, quota, idempotency }, asked);
  return { answer, charged: () => charged };
}

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
    const failing: Claims = {
      claim: (claim) => claims.claim(claim),
      takeOver: async (request) => {
        if (request.stored !== undefined) throw unavailable("lost");
        return claims.takeOver(request);
      },
      answer: (request) => claims.answer(request),
      release: (request) => claims.release(request),
    };
    const { again } = await storeAPart(failing);
    await expect(again()).rejects.toMatchObject({ code: "unavailable" });
    expect(await service.domain().size("a")).toBe(3);
  });
});
