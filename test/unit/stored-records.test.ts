import { expect, it } from "vitest";
import { fromErasureRecord, toErasureRecord } from "../../src/storage/erasure-record.js";

/** Records as databases have held them from the first version: their field names never change. */
const ERASURE_RECORD = {
  id: "e",
  scope: { accountId: "acc", namespace: "n" },
  incarnation: "0123abx2",
  sequence: 4,
  begunAtMs: 6,
};

it("an erasure is read from the fields it was always kept in, and kept in them", () => {
  const { incarnation, ...rest } = ERASURE_RECORD;
  const erasure = fromErasureRecord(ERASURE_RECORD);
  expect(erasure).toEqual({ ...rest, logId: incarnation });
  expect(toErasureRecord(erasure)).toEqual(ERASURE_RECORD);
});
