import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import { sweep } from "../../src/memory/erasure/sweeping.js";
import { deleteMemory } from "../../src/memory/operations/delete-memory.js";
import { getMemory } from "../../src/memory/operations/get.js";
import type { Ports } from "../../src/memory/operations/ports.js";
import { findLike } from "../../src/memory/operations/recall/question.js";
import { store } from "../../src/memory/operations/store.js";
import { storeBatch } from "../../src/memory/operations/store-batch.js";
import { updateMemory } from "../../src/memory/operations/update.js";
import type { Pinned } from "../../src/memory/ports/model-version.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { tend } from "../../src/memory/reembedding/move.js";
import { HandClock } from "./clock.js";
import { CALLER, type Domain, type DomainOptions, plainVectors, scopeOf, TestService } from "./domain.js";
import { modelOf, modelVersionsOf } from "./models.js";

const OLD = modelOf([1, 0], "old");
const NEW = modelOf([0, 1], "new");
const before: Pinned[] = [{ modelVersion: "", model: OLD.model }];
const request = { caller: CALLER, namespace: "a" };

let service: TestService;
beforeEach(async () => {
  service = await TestService.open({ clock: new HandClock() });
});
afterEach(() => service.close());

const aDomain = (changes: DomainOptions = {}): Domain =>
  service.domain({ vectors: plainVectors(() => ({})).vectors, ...changes });
/** The domain of a process that knows the new model, too. */
const aNewDomain = (changes: DomainOptions = {}) => {
  const openModel = async () => ({ ...OLD, close: async () => {} });
  return aDomain({ modelVersions: modelVersionsOf(NEW, { before, openModel }), ...changes });
};
/** The domain of a process that has not noticed that there is a new model, but can load it. */
const aLateDomain = () => {
  const pins = [...before, { modelVersion: "e1", model: NEW.model }];
  const systemRecords = { models: async () => pins };
  const openModel = async () => ({ ...NEW, close: async () => {} });
  return aDomain({ modelVersions: modelVersionsOf(OLD, { systemRecords, openModel }) });
};
const storeOld = async (text: string, more: object = {}) =>
  store(aDomain({ modelVersions: modelVersionsOf(OLD) }).ports, { ...request, text, ...more });

/** Moves the namespace to the new model, and erases the log that it had, as another process does. */
async function moveAndErase(): Promise<void> {
  const { ports } = aNewDomain();
  const logId = (await service.storage.names.find(scopeOf("a"))) ?? "";
  await tend(ports, { scope: scopeOf("a"), logId }, new AbortController().signal);
  (ports.clock as HandClock).atMs += 120_000;
  expect(await sweep(ports)).toBe(1);
}

/** The ports of a process that sleeps after it has found the namespace's log, until that has moved and is erased. */
function sleepyPorts(): Ports {
  let isAwake = false;
  const sleepFirst = <A, R>(work: (asked: A) => Promise<R>) => {
    return async (asked: A) => {
      if (!isAwake) {
        isAwake = true;
        await moveAndErase();
      }
      return work(asked);
    };
  };
  const { secondaryIndexes: all } = service.storage;
  const secondaryIndexes = withChanges(all, {
    locate: sleepFirst((asked) => all.locate(asked)),
    findByOperation: sleepFirst((asked) => all.findByOperation(asked)),
  });
  return aNewDomain({ secondaryIndexes }).ports;
}

describe("a memory whose log moves to another model in the middle of a call", () => {
  let id: string;
  beforeEach(async () => {
    id = (await storeOld("one")).stored.id;
  });

  it("is updated", async () => {
    const updated = await updateMemory(sleepyPorts(), { ...request, id, metadata: { a: 1 } });
    expect(updated.memory).toMatchObject({ id, text: "one", metadata: '{"a":1}' });
  });

  it("is deleted", async () => {
    await deleteMemory(sleepyPorts(), { ...request, id });
    await expect(getMemory(aNewDomain().ports, { ...request, id })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it("is superseded", async () => {
    const { stored } = await store(sleepyPorts(), { ...request, text: "two", supersedes: [id] });
    const memory = await getMemory(aNewDomain().ports, { ...request, id });
    expect(memory.supersededBy).toBe(stored.id);
  });

  it("is compared with others", async () => {
    expect(await findLike(sleepyPorts(), scopeOf("a"), id)).toMatchObject({
      text: "one",
      modelVersion: "e1",
    });
  });

  it("is not called deleted when its batch comes again", async () => {
    const batch = { ...request, memories: [{ text: "x" }, { text: "y" }], idempotencyKey: "key" };
    const first = await storeBatch(aDomain({ modelVersions: modelVersionsOf(OLD) }).ports, batch);
    const again = await storeBatch(sleepyPorts(), batch);
    expect(again).toMatchObject({ replayed: true, results: first.results });
  });
});

it("a store with a key whose outcome was unknown is not called deleted by a process that has not noticed a move", async () => {
  const { ports } = aDomain({ modelVersions: modelVersionsOf(OLD) });
  const keyed = { ...request, text: "x", idempotencyKey: "key" };
  const append: Ports["namespaces"]["append"] = async (...[scope, appending]) => {
    await ports.namespaces.append(scope, { ...appending, settled: new Map() });
    throw unavailable("lost");
  };
  const losing = { ...ports, namespaces: withChanges(ports.namespaces, { append }) };
  const other = aLateDomain().ports;
  await storeOld("an earlier one");
  await other.namespaces.using(scopeOf("a"), ({ replica }) => replica.current());
  await expect(store(losing, keyed)).rejects.toThrow("lost");
  await moveAndErase();
  const { stored } = await store(other, keyed);
  expect(await getMemory(other, { ...request, id: stored.id })).toMatchObject({ text: "x" });
});
