import type { Pooling } from "./convention.js";

/** A model's output for one text: `[1, tokens, dimensions]` for a state per token, else `[1, dimensions]`. */
export interface Output {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: unknown;
}

/** Names of the outputs that hold a state for each token, or the model's own vector of the whole text. */
const STATES = ["last_hidden_state", "token_embeddings"] as const;
const OWN = ["sentence_embedding", "pooler_output"] as const;

/**
 * Chooses the pooling that a model with these outputs allows: without states, only the model's own
 * vector.
 */
export function settlePooling(pooling: Pooling, outputs: readonly string[]): Pooling {
  const given = (names: readonly string[]) => names.some((name) => outputs.includes(name));
  if (given(OWN) && (pooling === "model" || !given(STATES))) return "model";
  if (given(STATES) && pooling !== "model") return pooling;
  const wanted = pooling === "model" ? OWN : [...STATES, ...OWN];
  throw new Error(`it gives ${outputs.join(", ")}; pooling ${pooling} needs ${wanted.join(" or ")}`);
}

/** Makes one normalised vector from a model's outputs for a text. */
export function vectorOf(
  outputs: Readonly<Record<string, Output | undefined>>,
  pooling: Pooling,
): Float32Array<ArrayBuffer> {
  const name = (pooling === "model" ? OWN : STATES).find((each) => outputs[each] !== undefined);
  const output = name && outputs[name];
  const rank = pooling === "model" ? 2 : 3;
  if (output?.dims.length !== rank || !(output.data instanceof Float32Array)) {
    const shape = output && `${output.type}[${output.dims.join(", ")}]`;
    throw new Error(
      `the model's ${name ?? "output"} is ${shape ?? "missing"}; it must be float32 of rank ${rank}`,
    );
  }
  return pool(output.data, { dimensions: output.dims[rank - 1] as number, pooling });
}

function pool(states: Float32Array, { dimensions, pooling }: { dimensions: number; pooling: Pooling }) {
  if (pooling === "mean") return normalise(mean(states, dimensions));
  const from = pooling === "last" ? states.length - dimensions : 0;
  return normalise(Float64Array.from(states.subarray(from, from + dimensions)));
}

// Plain loops take a fifth of the time of callbacks for each value. The order of the additions and the divisions
// are part of each vector: another order would give other bits than the stored vectors have.

/** Returns the mean over all tokens: a run has one text, so no token is padding. */
function mean(rows: Float32Array, dimensions: number): Float64Array {
  const means = new Float64Array(dimensions);
  const count = rows.length / dimensions;
  for (let i = 0; i < dimensions; i++) {
    let sum = 0;
    for (let at = i; at < rows.length; at += dimensions) sum += rows[at] as number;
    means[i] = sum / count;
  }
  return means;
}

function normalise(vector: Float64Array): Float32Array<ArrayBuffer> {
  const { unit, length } = scaled(vector);
  if (length > 0 && length < Number.POSITIVE_INFINITY) return unit;
  throw new Error("the model gave a vector that cannot be normalised");
}

/** Scales a vector to length 1. If its length was 0, NaN or infinite, as with such a number in it, it is none. */
export function scaled(vector: ArrayLike<number>): { unit: Float32Array<ArrayBuffer>; length: number } {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += (vector[i] as number) * (vector[i] as number);
  const length = Math.sqrt(squares);
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i++) unit[i] = (vector[i] as number) / length;
  return { unit, length };
}
