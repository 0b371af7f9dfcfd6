import { describe, expect, it } from "vitest";
import { expectWhole, type Listed, type Named, type Scope } from "../../src/memory/ports/names.js";
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

/** Contract of the names of logs. */
export function namesContract(name: string, make: MakeDatabase): void {
  describe(`names of logs: ${name}`, () => {
    const used = useDatabase(make);
    const names = () => used.storage.names;
    type Request = Omit<Listed, "after"> & { accountId: string; after?: string };
    const namesOf = async ({ after, ...request }: Request) => {
      const behind = after === undefined ? {} : { after: { accountId: request.accountId, namespace: after } };
      return (await names().list({ ...request, ...behind })).map(({ scope }) => scope.namespace);
    };

    it("finds nothing where nobody stored, and finding creates nothing", async () => {
      const scope = aScope();
      expect(await names().find(scope)).toBeUndefined();
      expect(await names().find(scope)).toBeUndefined();
      expect(await names().list({ accountId: scope.accountId, limit: 10 })).toEqual([]);
    });

    it("gives all of 20 racing creators the same log", async () => {
      const scope = aScope();
      const created = await Promise.all(Array.from({ length: 20 }, () => names().create(scope)));
      expect(new Set(created)).toEqual(new Set([await names().find(scope)]));
      expect(await names().create(scope)).toBe(created[0]);
    });

    it("keeps a log when it is closed and opened again", async () => {
      const scope = aScope();
      const created = await names().create(scope);
      await used.reopen();
      expect(await names().find(scope)).toBe(created);
      expect(await names().create(scope)).toBe(created);
    });

    it("lists the names that were used last, newest first, and no use of one that is removed", async () => {
      const [one, two, three] = [aScope(), aScope(), aScope()];
      const logId = await names().create(one);
      await names().create(two);
      const before = await names().create(three);
      const atMs = 4e12;
      await names().touch(one, atMs);
      await names().touch(two, atMs + 1);
      await names().touch(three, atMs + 2);
      await names().touch(one, atMs + 3);
      expect(await names().recent(3)).toEqual([one, three, two]);
      await names().rename(three, { from: before, to: `${before}x1` });
      await names().retire(one, logId);
      await names().touch(one, atMs + 4);
      expect(await names().find(one)).toBeUndefined();
      expect(await names().recent(2)).toEqual([three, two]);
      for (const scope of [two, three]) await names().touch(scope, 0);
    });

    it("tells names apart that are alike or odd, and keeps them as they are", async () => {
      const { accountId } = aScope();
      const created = new Set<string>();
      for (const namespace of ODD_NAMES) created.add(await names().create({ accountId, namespace }));
      expect(created.size).toBe(ODD_NAMES.length);
      const listed = await namesOf({ accountId, limit: 100 });
      expect(new Set(listed)).toEqual(new Set(ODD_NAMES));
      for (const namespace of ODD_NAMES)
        expect(created).toContain(await names().find({ accountId, namespace }));
    });

    it("keeps accounts apart that use the same name, or whose id begins another's", async () => {
      const one = aScope("notes");
      const other = { ...aScope("notes") };
      const longer = { accountId: `${one.accountId}x`, namespace: "notes" };
      const created = await Promise.all([one, other, longer].map((scope) => names().create(scope)));
      expect(new Set(created).size).toBe(3);
      expect(await names().find({ ...one, namespace: "x:notes" })).toBeUndefined();
      expect(await namesOf({ accountId: one.accountId, limit: 10 })).toEqual(["notes"]);
    });

    it("lists an account's namespaces in order, page by page", async () => {
      const { accountId } = aScope();
      const ordered = ["", "0", "A", "a", "a:", "a:b", "aa", "b", "é", "日"].map((end) => `n${end}`);
      for (const namespace of ordered.toReversed()) await names().create({ accountId, namespace });
      expect(await namesOf({ accountId, limit: 100 })).toEqual(ordered);
      expect(await namesOf({ accountId, limit: 3 })).toEqual(ordered.slice(0, 3));
      expect(await namesOf({ accountId, after: "na", limit: 2 })).toEqual(["na:", "na:b"]);
      expect(await namesOf({ accountId, after: "n日", limit: 2 })).toEqual([]);
    });

    it("lists the namespaces that begin with a prefix, page by page, and no others", async () => {
      const { accountId } = aScope();
      const last = "\u{10ffff}";
      const some = ["a", "a:", "a:b", `a${last}`, `a${last}${last}`, "b", "é", "éa", last];
      for (const namespace of some) await names().create({ accountId, namespace });
      await names().create({ accountId: `${accountId}x`, namespace: "a" });
      const listed = (prefix: string, more: object = {}) =>
        namesOf({ accountId, prefix, limit: 100, ...more });
      expect(await listed("")).toEqual(some);
      expect(await listed("a")).toEqual(some.slice(0, 5));
      expect(await listed("a:")).toEqual(["a:", "a:b"]);
      expect(await listed(`a${last}`)).toEqual(some.slice(3, 5));
      expect(await listed("é")).toEqual(["é", "éa"]);
      expect(await listed(last)).toEqual([last]);
      expect(await listed("c")).toEqual([]);
      expect(await listed("a", { limit: 2 })).toEqual(["a", "a:"]);
      expect(await listed("a", { after: "a:", limit: 2 })).toEqual(["a:b", `a${last}`]);
      expect(await listed("a", { after: `a${last}${last}` })).toEqual([]);
    });

    it("lists each namespace with its log", async () => {
      const scope = aScope("only");
      const logId = await names().create(scope);
      const named = await names().list({ accountId: scope.accountId, limit: 10 });
      expect(named).toEqual([{ scope, logId }]);
    });

    it("begins a new log once the old one has lost its name", async () => {
      const scope = aScope();
      const old = await names().create(scope);
      await names().retire(scope, old);
      expect(await names().find(scope)).toBeUndefined();
      const young = await names().create(scope);
      expect(young).not.toBe(old);
      await names().retire(scope, old);
      expect(await names().find(scope)).toBe(young);
    });

    it("finds the namespace of a log, and follows its name", async () => {
      const scope = aScope();
      const logId = await names().create(scope);
      expect(await names().scopeOf(logId)).toEqual(scope);
      await names().rename(scope, { from: logId, to: `${logId}xnew` });
      expect(await names().scopeOf(logId)).toBeUndefined();
      expect(await names().scopeOf(`${logId}xnew`)).toEqual(scope);
      await names().retire(scope, `${logId}xnew`);
      expect(await names().scopeOf(`${logId}xnew`)).toBeUndefined();
    });

    it("points a name to another log only if nobody has pointed it elsewhere", async () => {
      const scope = aScope();
      const logId = await names().create(scope);
      await names().rename(scope, { from: `${logId}xother`, to: `${logId}xnew` });
      expect(await names().find(scope)).toBe(logId);
      await names().rename(scope, { from: logId, to: `${logId}xnew` });
      expect(await names().find(scope)).toBe(`${logId}xnew`);
      const absent = aScope();
      await names().rename(absent, { from: logId, to: `${logId}xnew` });
      expect(await names().find(absent)).toBeUndefined();
    });

    it("lists the names of all accounts, page by page, each once", async () => {
      const made = ["a", "b", "c"].map((namespace) => aScope(namespace));
      const logIds = new Set<string>();
      for (const scope of made) logIds.add(await names().create(scope));
      const all: Named[] = [];
      for (let after: Scope | undefined; ; ) {
        const some = await names().list({ after, limit: 2 });
        all.push(...expectWhole(some));
        if (some.length < 2) break;
        after = some.at(-1)?.scope;
      }
      const ours = all.filter(({ logId }) => logIds.has(logId));
      expect(new Set(ours.map(({ scope }) => scope))).toEqual(new Set(made));
      expect(new Set(all.map(({ logId }) => logId)).size).toBe(all.length);
      expect(await names().list({ limit: 10_000 })).toEqual(all);
    });
  });
}
