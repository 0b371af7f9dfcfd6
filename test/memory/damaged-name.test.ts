import { rmSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dropAll } from "../../src/memory/erasure/drop.js";
import { eraseExpired, removingLeftovers } from "../../src/memory/erasure/sweeping.js";
import { verify } from "../../src/memory/log/verify.js";
import { deleteNamespaces } from "../../src/memory/operations/delete-namespaces.js";
import { listNamespaces } from "../../src/memory/operations/list-namespaces.js";
import { modelVersionOf, type Pinned } from "../../src/memory/ports/model-version.js";
import { expectWhole } from "../../src/memory/ports/names.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { Moving } from "../../src/memory/reembedding/moving.js";
import { aMemory } from "../contract/samples.js";
import { CALLER, newFolder, plainVectors, scopeOf, TestService, until } from "./domain.js";
import { modelOf, modelVersionsOf } from "./models.js";

const { accountId } = CALLER;
const OLD = modelOf([1, 0], "old");
const NEW = modelOf([0, 1], "new");
const BEFORE: Pinned = { modelVersion: "", model: OLD.model };
const OTHERS = ["a", "c", "d"];
const LOST = `the record of the namespace b of the account ${accountId} is damaged`;

let service: TestService;
/** Logs of all namespaces. */
const logIds = new Map<string, string>();

beforeEach(async () => {
  const dataDir = newFolder();
  service = await TestService.open({ dataDir });
  for (const namespace of ["b", ...OTHERS]) {
    const vectors = Float32Array.of(1, 0);
    const entries = [aMemory({ vectors, expiresAtMs: 1 }), aMemory({ vectors })];
    logIds.set(namespace, await service.write(namespace, entries));
  }
  await service.close();
  const root = open({ path: join(dataDir, "recalld.mdb") });
  await root
    .openDB<Buffer, string>("namespaces", { encoding: "binary" })
    .put(`${accountId}:b`, Buffer.from("{"));
  await root.close();
  service = await TestService.open({ dataDir });
});
afterEach(async () => {
  await service.close();
  rmSync(service.dataDir, { recursive: true });
});

const portsOf = () => service.domain({ vectors: plainVectors(() => ({})).vectors }).ports;
const logOf = (namespace: string) => logIds.get(namespace) ?? "";

describe("a name whose record is damaged", () => {
  it("stands in lists by its name alone, and is an error where logs are asked for", async () => {
    const { names } = service.storage;
    const lost = { scope: scopeOf("b"), lost: true };
    const whole = (namespace: string) => ({ scope: scopeOf(namespace), logId: logOf(namespace) });
    const listed = await names.list({ limit: 2 });
    expect(listed).toEqual([whole("a"), lost]);
    expect(await names.list({ limit: 2, accountId, after: scopeOf("a") })).toEqual([lost, whole("c")]);
    expect(await names.list({ limit: 9, accountId, prefix: "b" })).toEqual([lost]);
    expect(() => expectWhole(listed)).toThrow("the database could not be read");
    const asked = { caller: CALLER, pageToken: "" };
    const { ports } = service.domain();
    await expect(listNamespaces(ports, asked)).rejects.toMatchObject({ code: "unavailable" });
    const deleting = { caller: CALLER, prefix: "b", dryRun: true };
    await expect(deleteNamespaces(ports, deleting)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("does not keep other namespaces from being opened at the start", async () => {
    const { names } = service.storage;
    await names.touch(scopeOf("c"), 2);
    await names.touch(scopeOf("a"), 1);
    expect(await names.recent(9)).toEqual(["c", "a", "d"].map(scopeOf));
  });

  it("holds up no expiry of memories in other namespaces", async () => {
    const { measure } = service.storage.log;
    await expect(eraseExpired(portsOf())).rejects.toMatchObject({ code: "unavailable" });
    for (const namespace of OTHERS) {
      const measured = await measure.call(service.storage.log, { logId: logOf(namespace) });
      expect(measured.memories).toBe(1);
    }
  });

  it("holds up no removal of other leftovers, and is told", async () => {
    const { log, names } = service.storage;
    await log.append({ logId: logOf("c"), from: 3, entries: [{ op: "drop", opId: "end" }] });
    const ports = { ...portsOf(), isClosed: async () => false };
    const last = async (logId: string) => {
      if (logId === logOf("a")) throw new Error("its last entry is damaged");
      return log.last(logId);
    };
    const sweepOnce = removingLeftovers({ ...ports, log: withChanges(log, { last }) });
    await expect(sweepOnce()).rejects.toThrow("its last entry is damaged");
    expect(await names.find(scopeOf("c"))).toBeUndefined();
    await expect(removingLeftovers(ports)()).rejects.toThrow(LOST);
  });

  it("holds up no move of other namespaces to another model", async () => {
    const modelVersions = modelVersionsOf(NEW, { before: [BEFORE] });
    const { ports } = service.domain({ modelVersions, vectors: plainVectors(() => ({})).vectors });
    const troubles: unknown[] = [];
    let moved = 0;
    const onMoved = (_: unknown, namespaces: number) => (moved = namespaces);
    const moving = new Moving({ ...ports, onMoved, onTrouble: (error) => troubles.push(error) });
    await moving.step();
    await until(() => moved > 0);
    await moving.close();
    expect(moved).toBe(OTHERS.length);
    expect(troubles).toMatchObject([{ message: LOST }]);
    const { find } = service.storage.names;
    for (const namespace of OTHERS) {
      const logId = await find.call(service.storage.names, scopeOf(namespace));
      expect(modelVersionOf(logId ?? "")).toBe("e1");
    }
  });

  it("does not stop its account's other namespaces from being erased with it", async () => {
    const { names } = service.storage;
    await expect(dropAll(portsOf(), accountId)).rejects.toThrow(LOST);
    expect(await names.list({ accountId, limit: 9 })).toEqual([{ scope: scopeOf("b"), lost: true }]);
  });

  it("is a problem that verifying names, with all others", async () => {
    const { problems } = await verify({ ...portsOf(), dimensionsOf: () => 2 });
    expect(problems).toContain(LOST);
  });
});
