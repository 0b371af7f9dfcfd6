import { expect, it } from "vitest";
import {
  fromModelRecord,
  fromPlanRecord,
  toModelRecord,
  toPlanRecord,
} from "../../src/storage/model-record.js";

/** Records as databases have held them from the first version: their field names never change. */
const MODEL = { id: "m", revision: "ab", dtype: "q8", dimensions: 384, pooling: "mean" } as const;
const MODEL_RECORD = { ...MODEL, edition: "2", previous: { edition: "", modelId: "bundled" } };
const PLAN_RECORD = {
  edition: "3",
  modelId: "a/b",
  phase: "building",
  begunAtMs: 5,
  replicas: {},
  progress: { done: 0, of: 1 },
} as const;

it("a pinned model is read from the fields it was always kept in, and kept in them", () => {
  const pinned = fromModelRecord(MODEL_RECORD);
  expect(pinned).toEqual({
    model: MODEL,
    generation: "2",
    previous: { generation: "", modelId: "bundled" },
  });
  expect(pinned && toModelRecord(pinned)).toEqual(MODEL_RECORD);
});

it("a pinned model without a generation is the database's first", () => {
  expect(fromModelRecord(MODEL)).toEqual({ model: MODEL, generation: "" });
});

it("a plan is read from the fields it was always kept in, and kept in them", () => {
  const { edition, ...rest } = PLAN_RECORD;
  const plan = fromPlanRecord(PLAN_RECORD);
  expect(plan).toEqual({ ...rest, generation: edition });
  expect(toPlanRecord(plan)).toEqual(PLAN_RECORD);
});
