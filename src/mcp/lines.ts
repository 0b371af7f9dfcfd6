const LF = 0x0a;

/**
 * Splits bytes into lines at LF alone: other characters that end lines for some, such as U+2028, are text in
 * JSON. A line longer than `bytesMax` comes cut, as long as shows that. The last line need not end.
 */
export async function* linesIn(input: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const keep = (part: Uint8Array) => {
    const kept = part.subarray(0, bytesMax + 1 - bytes);
    if (kept.length > 0) parts.push(kept);
    bytes += kept.length;
  };
  const take = () => {
    const line = Buffer.concat(parts);
    parts = [];
    bytes = 0;
    return line;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (bytes > 0) yield take();
}
