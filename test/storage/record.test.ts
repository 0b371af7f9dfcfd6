import { expect, it } from "vitest";
import type { Appended } from "../../src/memory/ports/log.js";
import { decode, encode } from "../../src/storage/local/log/entries.js";
import { fromRecord, toRecord } from "../../src/storage/mongo/log/record.js";

const ENTRY: Appended = {
  op: "store",
  opId: "op",
  id: "mem_1",
  text: "zanzibar",
  metadata: "{}",
  vectors: new Float32Array([1, 0]),
  tokens: 1,
  createdAtMs: 0,
};

it("what is said of a damaged record of the embedded database quotes nothing of its text", () => {
  const record = encode(ENTRY);
  for (let at = 0; at < record.byteLength; at++) {
    for (const byte of [0x00, 0x22, 0xff]) {
      const damaged = Buffer.from(record);
      damaged[at] = byte;
      const entry = decode(damaged, "all");
      if (entry.op === "lost") expect(entry.reason).not.toMatch(/zan|bar/);
    }
  }
  expect(decode(record.subarray(0, 60), "all")).toMatchObject({
    op: "lost",
    reason: "it is unreadable (SyntaxError)",
  });
  expect(decode(Buffer.alloc(0), "all")).toMatchObject({
    op: "lost",
    reason: "it is unreadable (RangeError)",
  });
});

it("what is said of a damaged document in MongoDB quotes nothing of it", () => {
  const document = { ...toRecord("n", ENTRY), vector: "zanzibar" } as never;
  expect(fromRecord(document, "all")).toMatchObject({ op: "lost", reason: "it is unreadable (TypeError)" });
});
