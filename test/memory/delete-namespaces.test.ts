import { afterEach, beforeEach, expect, it } from "vitest";
import { unavailable } from "../../src/errors.js";
import { deleteNamespaces, NAMESPACES_MAX } from "../../src/memory/operations/delete-namespaces.js";
import type { Erasure } from "../../src/memory/ports/erasures.js";
import { withChanges } from "../../src/memory/ports/ports.js";
import { aMemory } from "../contract/samples.js";
import { HandClock } from "./clock.js";
import { CALLER, DIMENSIONS, type Domain, scopeOf, TestService } from "./domain.js";

let service: TestService;
let domain: Domain;
let clock: HandClock;
const vectors = new Float32Array(DIMENSIONS).fill(0.25);
const memory = () => aMemory({ vectors });
const names = Array.from({ length: 12 }, (_, i) => `ana/${String(i).padStart(3, "0")}`);
const request = { caller: CALLER, prefix: "ana/" };

beforeEach(async () => {
  clock = new HandClock();
  service = await TestService.open({ clock });
  for (const name of names) await service.write(name, [memory(), memory()]);
  await service.write("ana", [memory()]);
  await service.write("bob/000", [memory()]);
  domain = service.domain();
});
afterEach(() => service.close());

const { accountId } = CALLER;
const left = async (prefix = "ana/") =>
  (await service.storage.names.list({ accountId, prefix, limit: 1_000 })).map(({ scope }) => scope.namespace);

/** Ports whose erasures begin as told. */
function beginning(begin: (erasure: Erasure) => Promise<void> | void) {
  const { erasures } = domain.ports;
  return {
    ...domain.ports,
    erasures: withChanges(erasures, {
      findOrInsert: async (erasure: Erasure) => {
        await begin(erasure);
        return erasures.findOrInsert(erasure);
      },
    }),
  };
}

it("deletes those with the prefix and no others, and erases what they held", async () => {
  const logIds = await Promise.all(names.map((name) => service.storage.names.find(scopeOf(name))));
  const dry = await deleteNamespaces(domain.ports, { ...request, dryRun: true });
  expect(dry).toEqual({ deleted: 0, more: false, namespaces: names, memories: 24, matched: 12 });
  expect(await left()).toEqual(names);
  const done = await deleteNamespaces(domain.ports, request);
  expect(done).toEqual({ deleted: 12, more: false, namespaces: names, memories: 24 });
  expect(await left()).toEqual([]);
  expect(await left("")).toEqual(["ana", "bob/000"]);
  for (const logId of logIds) {
    expect(await service.storage.log.measure({ logId: logId ?? "" })).toMatchObject({ memories: 0 });
  }
});

it("deletes 100 a call, and counts all of them in a dry run", async () => {
  const created = Array.from({ length: 1_203 - names.length }, (_, i) =>
    service.storage.names.create(scopeOf(`ana/z${String(names.length + i).padStart(4, "0")}`)),
  );
  await Promise.all(created);
  const dry = await deleteNamespaces(domain.ports, { ...request, dryRun: true });
  expect(dry).toMatchObject({ deleted: 0, more: true, matched: 1_203, memories: 24 });
  expect(dry.namespaces).toHaveLength(NAMESPACES_MAX);
  const first = await deleteNamespaces(domain.ports, request);
  expect(first).toMatchObject({ deleted: NAMESPACES_MAX, more: true, memories: 24 });
  expect(first.namespaces).toEqual(dry.namespaces);
  let deleted = 0;
  for (let more = true; more; ) {
    const answer = await deleteNamespaces(domain.ports, { ...request, prefix: "ana/z1" });
    deleted += answer.deleted;
    more = answer.more;
  }
  expect(deleted).toBe(203);
  expect(await deleteNamespaces(domain.ports, { ...request, dryRun: true })).toMatchObject({ matched: 900 });
});

it("begins none when time is over, and says that others are left", async () => {
  let begun = 0;
  const slow = beginning(() => {
    if (++begun === 6) clock.atMs += 16_000;
  });
  const { deleted, more, namespaces } = await deleteNamespaces(slow, request);
  expect(more).toBe(true);
  expect(deleted).toBe(namespaces.length);
  expect(await left()).toEqual(names.filter((name) => !namespaces.includes(name)));
  expect(await left()).not.toEqual([]);
  expect(await deleteNamespaces(domain.ports, request)).toMatchObject({
    deleted: names.length - deleted,
    more: false,
  });
});

it("goes on after a failure where it stopped, and no namespace is left in halves", async () => {
  let begun = 0;
  const failing = beginning(() => {
    if (++begun > 11) throw unavailable("the database is away");
  });
  await expect(deleteNamespaces(failing, request)).rejects.toThrow("the database is away");
  const rest = await left();
  expect(rest.length).toBeGreaterThan(0);
  expect(rest.length).toBeLessThan(names.length);
  for (const name of rest) expect([undefined, 2]).toContain(await service.domain().size(name));
  expect((await deleteNamespaces(domain.ports, request)).more).toBe(false);
  expect(await left()).toEqual([]);
});

it("leaves alone what is stored in a name that it has deleted", async () => {
  const anew: string[] = [];
  // When the first has lost its name, somebody stores in it again.
  const racing = beginning(async ({ id, scope }) => {
    if (!id.startsWith("calls:") || anew.length > 0) return;
    anew.push(scope.namespace);
    await domain.append(scope.namespace, memory());
  });
  const { deleted, more } = await deleteNamespaces(racing, request);
  expect({ deleted, more }).toEqual({ deleted: 12, more: false });
  expect(await left()).toEqual(anew);
  expect(await service.domain().size(anew[0] ?? "")).toBe(1);
});

it("finishes the name of a namespace whose delete broke off, and does not count it", async () => {
  await service.write("ana/999", [memory(), { op: "drop", opId: "end" }]);
  const answer = await deleteNamespaces(domain.ports, request);
  expect(answer).toMatchObject({ deleted: 12, more: false, namespaces: names });
  expect(await left()).toEqual([]);
});

it("deletes for a key of one namespace that one alone", async () => {
  const caller = { ...CALLER, namespace: "ana/003" };
  for (const prefix of ["ana/003/", "b", "ana/004"]) {
    const refused = deleteNamespaces(domain.ports, { caller, prefix });
    await expect(refused).rejects.toMatchObject({ code: "permission_denied", reason: "KEY_OTHER_NAMESPACE" });
  }
  const own = { deleted: 1, more: false, namespaces: ["ana/003"], memories: 2 };
  expect(await deleteNamespaces(domain.ports, { caller, prefix: "a", dryRun: true })).toEqual({
    ...own,
    deleted: 0,
    matched: 1,
  });
  expect(await deleteNamespaces(domain.ports, { caller, prefix: "a" })).toEqual(own);
  expect(await left()).toEqual(names.filter((name) => name !== "ana/003"));
  expect(await deleteNamespaces(domain.ports, { caller, prefix: "a" })).toMatchObject({ deleted: 0 });
});

it("refuses an empty prefix and a key that may only read, also for a dry run", async () => {
  for (const dryRun of [false, true]) {
    const empty = deleteNamespaces(domain.ports, { ...request, prefix: "", dryRun });
    await expect(empty).rejects.toMatchObject({ code: "invalid_argument", field: "prefix" });
    const caller = { ...CALLER, access: "read" } as never;
    const reading = deleteNamespaces(domain.ports, { ...request, caller, dryRun });
    await expect(reading).rejects.toMatchObject({ reason: "KEY_READ_ONLY" });
  }
  expect(await left()).toEqual(names);
});
