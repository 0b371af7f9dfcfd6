import { Tensor } from "@xenova/transformers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settlePooling, vectorOf } from "../../src/embedding/encode/pooling.js";

const states = new Tensor("float32", Float32Array.of(3, 0, 0, 1, 5, -8), [1, 3, 2]);
const own = new Tensor("float32", Float32Array.of(0, -2, 0), [1, 3]);
const near = (vector: Float32Array) => [...vector].map((value) => Math.round(value * 1e6) / 1e6);

describe("one vector of many", () => {
  it.each([
    ["mean", { last_hidden_state: states }, [0.752577, -0.658505]],
    ["cls", { last_hidden_state: states }, [1, 0]],
    ["last", { token_embeddings: states }, [0.529999, -0.847998]],
    ["model", { last_hidden_state: states, sentence_embedding: own }, [0, -1, 0]],
    ["model", { pooler_output: own }, [0, -1, 0]],
  ] as const)("%s", (pooling, outputs, expected) => {
    expect(near(vectorOf(outputs, pooling))).toEqual(expected);
  });

  it.each([
    ["mean", { last_hidden_state: own }, "last_hidden_state is float32[1, 3]; it must be float32 of rank 3"],
    [
      "model",
      { sentence_embedding: states },
      "sentence_embedding is float32[1, 3, 2]; it must be float32 of rank 2",
    ],
    ["cls", {}, "output is missing"],
    [
      "cls",
      { last_hidden_state: { type: "float16", dims: [1, 1, 2], data: new Uint16Array(2) } },
      "float16[1, 1, 2]",
    ],
  ] as const)("%s refuses %j", (pooling, outputs, message) => {
    expect(() => vectorOf(outputs, pooling)).toThrow(message);
  });

  it.each([
    [0, 0],
    [Number.NaN, 1],
    [Number.POSITIVE_INFINITY, 1],
  ])("refuses a vector such as %j, %j", (...values) => {
    const output = new Tensor("float32", Float32Array.from(values), [1, 1, 2]);
    expect(() => vectorOf({ last_hidden_state: output }, "cls")).toThrow("cannot be normalised");
  });
});

/** Pools by the plainest means, in the order in which the vectors of all databases were computed. */
function plainly(states: Float32Array, dimensions: number): Float32Array {
  const rows = states.length / dimensions;
  const means = Float64Array.from({ length: dimensions }, () => 0).map((_, i) => {
    const column = states.filter((_, at) => at % dimensions === i);
    return [...column].reduce((sum, value) => sum + value, 0) / rows;
  });
  const length = Math.sqrt(means.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(means, (value) => value / length);
}

it("gives the same bits as ever", () => {
  const numbers = fc.float({ noNaN: true, min: -20, max: 20 });
  const shapes = fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 }));
  const states = shapes.chain(([rows, dimensions]) =>
    fc.tuple(
      fc.constant(dimensions),
      fc.array(numbers, { minLength: rows * dimensions, maxLength: rows * dimensions }),
    ),
  );
  fc.assert(
    fc.property(states, ([dimensions, values]) => {
      const data = Float32Array.from(values);
      const expected = plainly(data, dimensions);
      fc.pre(expected.every((value) => Number.isFinite(value)));
      const dims = [1, data.length / dimensions, dimensions];
      const vector = vectorOf({ last_hidden_state: { type: "float32", dims, data } }, "mean");
      expect(Buffer.from(vector.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

describe("the pooling of a model", () => {
  it.each([
    ["mean", ["last_hidden_state"], "mean"],
    ["cls", ["last_hidden_state", "pooler_output"], "cls"],
    ["last", ["token_embeddings", "sentence_embedding"], "last"],
    ["model", ["last_hidden_state", "sentence_embedding"], "model"],
    ["mean", ["sentence_embedding"], "model"],
  ] as const)("%s with the outputs %j is %s", (asked, outputs, expected) => {
    expect(settlePooling(asked, outputs)).toBe(expected);
  });

  it.each([
    [
      "model",
      ["last_hidden_state"],
      "it gives last_hidden_state; pooling model needs sentence_embedding or pooler_output",
    ],
    ["cls", ["logits"], "it gives logits; pooling cls needs last_hidden_state or token_embeddings or"],
  ] as const)("%s cannot be had of the outputs %j", (asked, outputs, message) => {
    expect(() => settlePooling(asked, outputs)).toThrow(message);
  });
});
