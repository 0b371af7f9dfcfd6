import type { Convention } from "./convention.js";

/** One normalised vector of the states of a text's tokens, which stand one behind the other. */
export function pool(
  states: Float32Array,
  { dimensions, pooling }: { dimensions: number; pooling: Convention["pooling"] },
): Float32Array<ArrayBuffer> {
  if (pooling === "mean") return normalise(mean(states, dimensions));
  const from = pooling === "cls" ? 0 : states.length - dimensions;
  return normalise(Float64Array.from(states.subarray(from, from + dimensions)));
}

/** Every token counts: there is one text, so nothing is padded. */
function mean(rows: Float32Array, dimensions: number): Float64Array {
  const sum = new Float64Array(dimensions);
  for (let from = 0; from < rows.length; from += dimensions) {
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] as number) + (rows[from + i] as number);
  }
  return sum.map((value) => value / (rows.length / dimensions));
}

function normalise(vector: Float64Array): Float32Array<ArrayBuffer> {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  // NaN and infinity anywhere in the vector come out in its length.
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw new Error("the model gave a vector that cannot be normalised");
  }
  return Float32Array.from(vector, (value) => value / length);
}
