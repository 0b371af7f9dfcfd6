import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/concurrency/clock.js";
import { Idempotency } from "../../src/memory/idempotency/idempotency.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { getMemory } from "../../src/memory/operations/get.js";
import { listMemories } from "../../src/memory/operations/list.js";
import { type StoreRequest, store } from "../../src/memory/operations/store.js";
import { updateMemory } from "../../src/memory/operations/update.js";
import type { Log } from "../../src/memory/ports/log.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import type { SecondaryIndexes } from "../../src/memory/ports/secondary-indexes.js";
import { CALLER, type Domain, TestService } from "./domain.js";
import { modelVersionsOf } from "./models.js";
import { TOY_DIMENSIONS, toyEmbedder } from "./toy-embedder.js";

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ dimensions: TOY_DIMENSIONS });
});
afterEach(() => service.close());

const NAMESPACE = "a";
const SAME = 0.999;
const FIRST_PAGE = { pageToken: "", order: "oldest" } as const;
/** More words than the model reads at once. */
const long = (word: string) => `ana has a cat at home ${`${word} `.repeat(6)}and that is all there is`;

/** Opens a process over the database. */
function open(changes: Partial<Log> = {}, ofIndexes: Partial<SecondaryIndexes> = {}) {
  const { storage } = service;
  const log = withChanges(storage.log, changes);
  const secondaryIndexes = withChanges(storage.secondaryIndexes, ofIndexes);
  const domain: Domain = service.domain({
    log,
    secondaryIndexes,
    modelVersions: modelVersionsOf(toyEmbedder),
  });
  let charged = 0;
  const quota = {
    ...domain.ports.quota,
    charge: async () => void charged++,
    refund: async () => void charged--,
  };
  const idempotency = new Idempotency({ ...storage, clock: systemClock, exclusive: false });
  const ports = { ...domain.ports, quota, idempotency };
  return {
    ports,
    charged: () => charged,
    store: async (text: string, more: Partial<StoreRequest> = {}) => {
      const asked = { caller: CALLER, namespace: NAMESPACE, text, similarAbove: SAME, ...more };
      return (await store(ports, asked)).stored;
    },
    visibleTexts: async () => {
      const { items } = await listMemories(ports, { caller: CALLER, namespace: NAMESPACE, ...FIRST_PAGE });
      return items.map(({ text }) => text);
    },
    get: (id: string) => getMemory(ports, { caller: CALLER, namespace: NAMESPACE, id }),
    remove: (id: string) => deleteMemory(ports, { caller: CALLER, namespace: NAMESPACE, id }),
  };
}

describe("a store that finds a similar memory", () => {
  it("keeps the memory that is there, for one call", async () => {
    const one = open();
    const first = await one.store("ana has a cat", { onSimilar: "keep" });
    expect(first).toMatchObject({ outcome: "CREATED", similar: [] });
    const second = await one.store("ana has a cat", { onSimilar: "keep" });
    expect(second).toMatchObject({ id: first.id, outcome: "KEPT", etag: first.etag });
    expect(second.similar).toMatchObject([{ id: first.id, text: "ana has a cat" }]);
    expect(one.charged()).toBe(2);
    expect(await one.visibleTexts()).toEqual(["ana has a cat"]);
    expect(await one.store("ben likes tea", { onSimilar: "keep" })).toMatchObject({ outcome: "CREATED" });
  });

  it("supersedes the memory that is there", async () => {
    const one = open();
    const first = await one.store("ana has a cat");
    const second = await one.store("ana has a cat", { onSimilar: "supersede" });
    expect(second).toMatchObject({ outcome: "CREATED", similar: [{ id: first.id }] });
    expect(second.id).not.toBe(first.id);
    expect(await one.get(first.id)).toMatchObject({ supersededBy: second.id });
    expect(await one.visibleTexts()).toEqual(["ana has a cat"]);
    // What was superseded is no longer there.
    const third = await one.store("ana has a cat", { onSimilar: "supersede", supersedes: [second.id] });
    expect(await one.get(second.id)).toMatchObject({ supersededBy: third.id });
  });

  it("stores beside it unless it is asked otherwise", async () => {
    const one = open();
    await one.store("ana has a cat");
    expect(await one.store("ana has a cat", { onSimilar: "store" })).toMatchObject({ outcome: "CREATED" });
    expect(await one.visibleTexts()).toHaveLength(2);
  });

  it("answers a repeated call with what the first one kept, and charges it once", async () => {
    const one = open();
    const first = await one.store("ana has a cat");
    const again = { onSimilar: "keep", idempotencyKey: "k" } as const;
    const kept = await one.store("ana has a cat", again);
    expect(kept).toMatchObject({ id: first.id, outcome: "KEPT" });
    expect(await one.store("ana has a cat", again)).toMatchObject({ id: first.id, outcome: "KEPT" });
    expect(one.charged()).toBe(2);
  });

  it("takes none for similar that was deleted, or changed to another text", async () => {
    const one = open();
    const first = await one.store("ana has a cat");
    await one.remove(first.id);
    const second = await one.store("ana has a cat", { onSimilar: "keep" });
    expect(second.outcome).toBe("CREATED");
    await updateMemory(one.ports, {
      caller: CALLER,
      namespace: NAMESPACE,
      id: second.id,
      text: "ben likes tea",
    });
    expect(await one.store("ana has a cat", { onSimilar: "keep" })).toMatchObject({ outcome: "CREATED" });
    expect(await one.store("ben likes tea", { onSimilar: "keep" })).toMatchObject({ id: second.id });
  });

  it("gives up no long text for a short one that is a part of it, nor the other way round", async () => {
    const one = open();
    const [text, part] = [long("peanuts"), "ana has a cat at home"];
    const whole = await one.store(text, { onSimilar: "keep" });
    const short = await one.store(part, { onSimilar: "keep" });
    expect(short).toMatchObject({ outcome: "CREATED", similar: [{ id: whole.id }] });
    expect(await one.store(long("almonds"), { onSimilar: "supersede" })).toMatchObject({
      outcome: "CREATED",
    });
    expect(await one.visibleTexts()).toHaveLength(3);
    expect(await one.store(text, { onSimilar: "keep" })).toMatchObject({ id: whole.id, outcome: "KEPT" });
  });
});

describe("stores of one text at the same time", () => {
  it.each([1, 3])("make one memory, in %i processes", async (count) => {
    const processes = Array.from({ length: count }, () => open());
    const storing = Array.from({ length: 12 }, (_, i) =>
      (processes[i % count] as ReturnType<typeof open>).store("ana has a cat", { onSimilar: "keep" }),
    );
    const stored = await Promise.all(storing);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1);
    expect(stored.filter(({ outcome }) => outcome === "CREATED")).toHaveLength(1);
    expect(await open().visibleTexts()).toEqual(["ana has a cat"]);
  });

  it.each([1, 3])(
    "show one memory, of which each other one was superseded, in %i processes",
    async (count) => {
      const processes = Array.from({ length: count }, () => open());
      const storing = Array.from({ length: 12 }, (_, i) =>
        (processes[i % count] as ReturnType<typeof open>).store("ana has a cat", { onSimilar: "supersede" }),
      );
      const stored = await Promise.all(storing);
      expect(new Set(stored.map(({ id }) => id)).size).toBe(12);
      expect(await open().visibleTexts()).toEqual(["ana has a cat"]);
    },
  );

  it("compare what another process has appended between the search and the write", async () => {
    const other = open();
    await other.store("ben likes tea");
    let isDone = false;
    const one = open({
      append: async (appending) => {
        // The search is over, and nothing is decided anew until this write has lost its place.
        if (!isDone) {
          isDone = true;
          await other.store("ana has a cat");
        }
        return service.storage.log.append(appending);
      },
    });
    expect(await one.store("ana has a cat", { onSimilar: "keep" })).toMatchObject({ outcome: "KEPT" });
    expect(isDone).toBe(true);
    expect(await other.visibleTexts()).toEqual(["ben likes tea", "ana has a cat"]);
  });

  it("search again if all that was found is deleted meanwhile, and others may have been left out", async () => {
    const other = open();
    for (let i = 0; i < 20; i++) await other.store("ana has a cat");
    let isDone = false;
    const locate: SecondaryIndexes["locate"] = async (request) => {
      // The first look at what the search has found.
      if (!isDone) {
        isDone = true;
        const { items } = await listMemories(other.ports, {
          caller: CALLER,
          namespace: NAMESPACE,
          ...FIRST_PAGE,
        });
        const last = items.at(-1);
        const others = items.slice(0, -1);
        expect(last).toBeDefined();
        for (const { id } of others) await other.remove(id);
      }
      return service.storage.secondaryIndexes.locate(request);
    };
    const one = open({}, { locate });
    expect(await one.store("ana has a cat", { onSimilar: "keep" })).toMatchObject({ outcome: "KEPT" });
    expect(await other.visibleTexts()).toHaveLength(1);
  });
});
