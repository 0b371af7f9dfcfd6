/** Index of the first byte that belongs to no character of UTF-8: what comes before it is whole. */
export function firstBroken(bytes: Buffer): number {
  let [whole, broken] = [0, bytes.length];
  while (whole < broken) {
    const middle = Math.ceil((whole + broken) / 2);
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      whole = middle;
    } catch {
      broken = middle - 1;
    }
  }
  return whole;
}
