const LF = 0x0a;

export interface LineBytes {
  readonly bytes: Buffer;
  /** Number of bytes of the whole line; more than there are in `bytes` if it is too long. */
  readonly length: number;
}

/**
 * Splits bytes into lines at LF alone: other characters that end lines for some, such as U+2028, are text in
 * JSON. A line longer than `bytesMax` comes cut, as long as shows that. The last line need not end.
 */
export async function* linesIn(
  input: AsyncIterable<Uint8Array>,
  bytesMax = Number.POSITIVE_INFINITY,
): AsyncGenerator<LineBytes> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const append = (part: Uint8Array) => {
    if (length <= bytesMax) parts.push(part.subarray(0, bytesMax + 1 - length));
    length += part.length;
  };
  const take = (): LineBytes => {
    const line = { bytes: Buffer.concat(parts), length };
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      append(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    append(chunk.subarray(start));
  }
  if (length > 0) yield take();
}

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
