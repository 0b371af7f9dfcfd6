import { describe, expect, it } from "vitest";
import type { Listed } from "../../src/memory/ports/log.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { aScope } from "./samples.js";

const ODD_NAMES = [
  "a:b",
  ":",
  "a;b",
  "a/b",
  "$set",
  "a.b",
  "__proto__",
  "Ünïcödé",
  "日本語",
  "👩‍👩‍👧‍👦",
  "e\u0301",
  "\u00e9",
  "x".repeat(256),
];

/** Contract of every log about the log of each namespace. */
export function namesContract(name: string, make: MakeDatabase): void {
  describe(`names of logs: ${name}`, () => {
    const used = useDatabase(make);
    const log = () => used.storage.log;
    const namesOf = async (request: Listed) => (await log().list(request)).map(({ namespace }) => namespace);

    it("finds nothing where nobody stored, and finding creates nothing", async () => {
      const scope = aScope();
      expect(await log().find(scope)).toBeUndefined();
      expect(await log().find(scope)).toBeUndefined();
      expect(await log().list({ accountId: scope.accountId, limit: 10 })).toEqual([]);
    });

    it("gives all of 20 racing creators the same log", async () => {
      const scope = aScope();
      const created = await Promise.all(Array.from({ length: 20 }, () => log().create(scope)));
      expect(new Set(created)).toEqual(new Set([await log().find(scope)]));
      expect(await log().create(scope)).toBe(created[0]);
    });

    it("keeps a log when it is closed and opened again", async () => {
      const scope = aScope();
      const created = await log().create(scope);
      await used.reopen();
      expect(await log().find(scope)).toBe(created);
      expect(await log().create(scope)).toBe(created);
    });

    it("tells names apart that are alike or odd, and keeps them as they are", async () => {
      const { accountId } = aScope();
      const created = new Set<string>();
      for (const namespace of ODD_NAMES) created.add(await log().create({ accountId, namespace }));
      expect(created.size).toBe(ODD_NAMES.length);
      const listed = await namesOf({ accountId, limit: 100 });
      expect(new Set(listed)).toEqual(new Set(ODD_NAMES));
      for (const namespace of ODD_NAMES)
        expect(created).toContain(await log().find({ accountId, namespace }));
    });

    it("keeps accounts apart that use the same name, or whose id begins another's", async () => {
      const one = aScope("notes");
      const other = { ...aScope("notes") };
      const longer = { accountId: `${one.accountId}x`, namespace: "notes" };
      const created = await Promise.all([one, other, longer].map((scope) => log().create(scope)));
      expect(new Set(created).size).toBe(3);
      expect(await log().find({ ...one, namespace: "x:notes" })).toBeUndefined();
      expect(await namesOf({ accountId: one.accountId, limit: 10 })).toEqual(["notes"]);
    });

    it("lists an account's namespaces in order, page by page", async () => {
      const { accountId } = aScope();
      const names = ["", "0", "A", "a", "a:", "a:b", "aa", "b", "é", "日"].map((end) => `n${end}`);
      for (const namespace of names.toReversed()) await log().create({ accountId, namespace });
      expect(await namesOf({ accountId, limit: 100 })).toEqual(names);
      expect(await namesOf({ accountId, limit: 3 })).toEqual(names.slice(0, 3));
      expect(await namesOf({ accountId, after: "na", limit: 2 })).toEqual(["na:", "na:b"]);
      expect(await namesOf({ accountId, after: "n日", limit: 2 })).toEqual([]);
    });

    it("lists the namespaces that begin with a prefix, page by page, and no others", async () => {
      const { accountId } = aScope();
      const last = "\u{10ffff}";
      const names = ["a", "a:", "a:b", `a${last}`, `a${last}${last}`, "b", "é", "éa", last];
      for (const namespace of names) await log().create({ accountId, namespace });
      await log().create({ accountId: `${accountId}x`, namespace: "a" });
      const listed = (prefix: string, more: object = {}) =>
        namesOf({ accountId, prefix, limit: 100, ...more });
      expect(await listed("")).toEqual(names);
      expect(await listed("a")).toEqual(names.slice(0, 5));
      expect(await listed("a:")).toEqual(["a:", "a:b"]);
      expect(await listed(`a${last}`)).toEqual(names.slice(3, 5));
      expect(await listed("é")).toEqual(["é", "éa"]);
      expect(await listed(last)).toEqual([last]);
      expect(await listed("c")).toEqual([]);
      expect(await listed("a", { limit: 2 })).toEqual(["a", "a:"]);
      expect(await listed("a", { after: "a:", limit: 2 })).toEqual(["a:b", `a${last}`]);
      expect(await listed("a", { after: `a${last}${last}` })).toEqual([]);
    });

    it("lists each namespace with its log", async () => {
      const scope = aScope("only");
      const logId = await log().create(scope);
      const heads = await log().list({ accountId: scope.accountId, limit: 10 });
      expect(heads).toEqual([{ namespace: "only", logId }]);
    });

    it("begins a new log once the old one has lost its name", async () => {
      const scope = aScope();
      const old = await log().create(scope);
      await log().retire(scope, old);
      expect(await log().find(scope)).toBeUndefined();
      const young = await log().create(scope);
      expect(young).not.toBe(old);
      await log().retire(scope, old);
      expect(await log().find(scope)).toBe(young);
    });
  });
}
