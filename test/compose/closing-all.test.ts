import { expect, it } from "vitest";
import { closeAll } from "../../src/compose/context.js";

it("what was opened is closed, the last first, also after a part that fails to close", async () => {
  const closed: string[] = [];
  const closers = [
    () => closed.push("database"),
    async () => {
      closed.push("counts");
      throw new Error("disk full");
    },
    () => {
      closed.push("servers");
      throw new Error("no answer");
    },
  ];
  await expect(closeAll(closers)).rejects.toThrow("no answer");
  expect(closed).toEqual(["servers", "counts", "database"]);
  expect(closers).toEqual([]);
});
