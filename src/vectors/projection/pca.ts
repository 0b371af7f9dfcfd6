/** Maximum number of iterations, and the largest turn of a direction that counts as found. */
const ITERATIONS_MAX = 300;
const TURN_MIN = 1e-10;
/** Ratio to the first direction below which the second one is made of rounding errors. */
const NOISE = 1e-12;
/** Share of their length below which differences count as none: float32 is no more exact. */
const SPREAD_MIN = 1e-6;

/**
 * Projects vectors to the two directions in which they differ most (principal components, by subspace
 * iteration from a fixed start). Returns x and y of each in turn, from -1 to 1, on one scale for both;
 * vectors that are all equal lie at 0. The same rows give the same answer.
 */
export function toPlane({ rows, dimensions }: { rows: Float32Array; dimensions: number }): Float32Array {
  const centred = centre(rows, dimensions);
  const count = rows.length / dimensions;
  const [first, second] = principal(covariance(centred, dimensions), dimensions);
  const places = new Float64Array(2 * count);
  for (let row = 0; row < count; row++) {
    const vector = centred.subarray(row * dimensions, (row + 1) * dimensions);
    places[2 * row] = dot(vector, first);
    places[2 * row + 1] = dot(vector, second);
  }
  return scaled(places);
}

function centre(rows: Float32Array, dimensions: number): Float64Array {
  const count = rows.length / dimensions;
  const mean = new Float64Array(dimensions);
  rows.forEach((value, i) => {
    mean[i % dimensions] = (mean[i % dimensions] as number) + value / count;
  });
  return Float64Array.from(rows, (value, i) => value - (mean[i % dimensions] as number));
}

/** Computes the covariance: sums the upper half row by row, then mirrors it. */
function covariance(centred: Float64Array, dimensions: number): Float64Array {
  const matrix = new Float64Array(dimensions * dimensions);
  for (let from = 0; from < centred.length; from += dimensions) {
    for (let i = 0; i < dimensions; i++) {
      const value = centred[from + i] as number;
      const at = i * dimensions;
      for (let j = i; j < dimensions; j++) {
        matrix[at + j] = (matrix[at + j] as number) + value * (centred[from + j] as number);
      }
    }
  }
  for (let i = 0; i < dimensions; i++) {
    for (let j = 0; j < i; j++) matrix[i * dimensions + j] = matrix[j * dimensions + i] as number;
  }
  return matrix;
}

function principal(matrix: Float64Array, dimensions: number): [Float64Array, Float64Array] {
  let first = normalised(start(dimensions, 1));
  let second = normalised(without(start(dimensions, 2), first));
  for (let i = 0; i < ITERATIONS_MAX; i++) {
    const grown = times(matrix, first);
    const nextFirst = normalised(grown);
    const nextSecond = normalised(without(times(matrix, second), nextFirst), length(grown) * NOISE);
    const turn = Math.max(distance(first, nextFirst), distance(second, nextSecond));
    [first, second] = [nextFirst, nextSecond];
    if (turn < TURN_MIN) break;
  }
  return [signed(first), signed(second)];
}

/** Makes a start direction, always the same one, with a part of every dimension. */
function start(dimensions: number, seed: number): Float64Array {
  return Float64Array.from({ length: dimensions }, (_, i) => Math.sin((i + 1) * (seed + 0.5)) + 0.01);
}

function times(matrix: Float64Array, vector: Float64Array): Float64Array {
  const size = vector.length;
  return Float64Array.from({ length: size }, (_, i) =>
    dot(matrix.subarray(i * size, (i + 1) * size), vector),
  );
}

function without(vector: Float64Array, direction: Float64Array): Float64Array {
  const share = dot(vector, direction);
  return vector.map((value, i) => value - share * (direction[i] as number));
}

/** Normalises a vector; one without length, or of rounding errors alone, becomes 0. */
function normalised(vector: Float64Array, noise = 0): Float64Array {
  const size = length(vector);
  return vector.map((value) => (size <= noise ? 0 : value / size));
}

function length(vector: Float64Array): number {
  return Math.sqrt(dot(vector, vector));
}

/** Chooses the sign of a direction so that its largest part is positive. */
function signed(direction: Float64Array): Float64Array {
  let largest = 0;
  for (const value of direction) if (Math.abs(value) > Math.abs(largest) + TURN_MIN) largest = value;
  return largest < 0 ? direction.map((value) => -value) : direction;
}

function scaled(places: Float64Array): Float32Array {
  const largest = places.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  if (largest < SPREAD_MIN) return new Float32Array(places.length);
  return Float32Array.from(places, (value) => value / largest + 0);
}

function distance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  return Math.sqrt(sum);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
