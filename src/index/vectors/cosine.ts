/** Computes the dot product of a vector and the direction of another one, which begins at `from`. */
export function cosine(vector: Float32Array, others: Float32Array, from: number): number {
  let [dot, square] = [0, 0];
  for (let i = 0; i < vector.length; i++) {
    const other = others[from + i] as number;
    dot += (vector[i] as number) * other;
    square += other * other;
  }
  return dot / Math.sqrt(square);
}

export function lengthOf(vector: Float32Array): number {
  let square = 0;
  for (const x of vector) square += x * x;
  return Math.sqrt(square);
}
