import { describe, expect, it } from "vitest";
import type { Erasure } from "../../src/memory/ports/erasures.js";
import { type MakeDatabase, useDatabase } from "./database.js";
import { anLogId, aScope } from "./samples.js";

function anErasure(id: string): Erasure {
  return { id, scope: aScope("näme"), logId: anLogId(), begunAtMs: Date.now() };
}

/** Contract of every adapter of erasures. */
export function erasuresContract(name: string, make: MakeDatabase): void {
  describe(`erasures: ${name}`, () => {
    const used = useDatabase(make);
    const erasures = () => used.storage.erasures;

    it("keeps what was begun until it is ended, also when it is closed and opened again", async () => {
      const { logId: _, ...ofCalls } = anErasure("a");
      const begun = [anErasure("b"), ofCalls, anErasure("c")];
      for (const erasure of begun) await erasures().findOrInsert(erasure);
      await erasures().remove({ id: "c" });
      await erasures().remove({ id: "never begun" });
      await used.reopen();
      expect(await erasures().list({ limit: 10 })).toEqual([begun[1], begun[0]]);
      expect(await erasures().list({ limit: 1 })).toEqual([begun[1]]);
      expect(await erasures().list({ limit: 10, after: "a" })).toEqual([begun[0]]);
      for (const { id } of begun) await erasures().remove({ id });
      expect(await erasures().list({ limit: 10 })).toEqual([]);
    });
  });
}
