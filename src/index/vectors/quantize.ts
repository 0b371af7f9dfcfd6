/** Largest absolute value of a quantised number. */
const LARGEST = 127;

/** A vector as int8, which has about the same direction. */
export interface Quantized {
  readonly numbers: Int8Array;
  /** Length of the vector of these numbers. */
  readonly length: number;
  /** Bound of the angle between the two vectors, in radians. */
  readonly angle: number;
}

/** Highest share that one number of a vector has in its length; 0 if all are zeros. */
export function peakOf(vector: Float32Array): number {
  let [largest, square] = [0, 0];
  for (let i = 0; i < vector.length; i++) {
    const x = vector[i] as number;
    largest = Math.max(largest, Math.abs(x));
    square += x * x;
  }
  return square === 0 ? 0 : largest / Math.sqrt(square);
}

/**
 * Scales a vector so that a number with the share `peak` in its length becomes 127, and rounds it. Vectors with the
 * same `peak`, which is at least the own one of each, get about the same length. A vector of zeros stays one.
 */
export function quantize(vector: Float32Array, peak = peakOf(vector)): Quantized {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  const scale = sum === 0 ? 0 : LARGEST / (peak * Math.sqrt(sum));
  const numbers = new Int8Array(vector.length);
  let [square, error] = [0, 0];
  for (let i = 0; i < vector.length; i++) {
    const exact = (vector[i] as number) * scale;
    const rounded = Math.round(exact);
    numbers[i] = rounded;
    square += rounded * rounded;
    error += (exact - rounded) ** 2;
  }
  // The rounded vector's distance from the line through the exact one is at most the length of the error.
  const angle = square === 0 ? 0 : Math.asin(Math.min(1, Math.sqrt(error / square)));
  return { numbers, length: Math.sqrt(square), angle };
}

/** Rounds numbers, which must begin where their buffer does, in place to bf16, as graphs have them. */
export function rounded(numbers: Float32Array): Float32Array {
  const bits = new Uint32Array(numbers.buffer, 0, numbers.length);
  for (let i = 0; i < bits.length; i++) {
    const x = bits[i] as number;
    // To the nearest, of two to the even one.
    bits[i] = (x + 0x7fff + ((x >>> 16) & 1)) & 0xffff0000;
  }
  return numbers;
}
