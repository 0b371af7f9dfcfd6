import { describe, expect, it } from "vitest";
import type { Format } from "../../src/memory/format/format.js";
import { type MakeDatabase, useDatabase } from "./database.js";

/** Contract of every adapter of the format's mark. */
export function formatsContract(name: string, make: MakeDatabase): void {
  describe(`formats: ${name}`, () => {
    const used = useDatabase(make);
    const format = (version: number): Format => ({ version, readersMin: 1, program: `of ${version}` });

    it("keeps one mark of 20 that come at once, and changes it one after the other", async () => {
      const { formats } = used.storage;
      expect(await formats.read()).toBeUndefined();
      const twenty = Array.from({ length: 20 }, (_, i) => format(i + 1));
      const marked = await Promise.all(twenty.map((each) => formats.mark(each)));
      expect(new Set(marked.map((each) => JSON.stringify(each))).size).toBe(1);
      expect(await formats.read()).toEqual(marked[0]);
      expect(marked[0]?.revision).toBe(1);
      const changed = await Promise.all(twenty.map((to) => formats.replace({ from: 1, to })));
      expect(changed.filter(Boolean)).toHaveLength(1);
      const to = twenty[changed.indexOf(true)];
      expect(await formats.read()).toEqual({ format: to, revision: 2 });
      expect(await formats.replace({ from: 1, to: format(9) })).toBe(false);
    });

    it("keeps all that a mark says, and loses what it says no more", async () => {
      const { formats } = used.storage;
      const { revision } = await formats.mark(format(1));
      const lead = { replica: "r", untilMs: 7 };
      const migrating = { ...format(1), migration: { to: 2, begunAtMs: 5, cursor: null, lead } };
      expect(await formats.replace({ from: revision, to: migrating })).toBe(true);
      await used.reopen();
      expect((await used.storage.formats.read())?.format).toEqual(migrating);
      expect(await used.storage.formats.replace({ from: revision + 1, to: format(2) })).toBe(true);
      expect(await used.storage.formats.read()).toEqual({ format: format(2), revision: revision + 2 });
    });
  });
}
