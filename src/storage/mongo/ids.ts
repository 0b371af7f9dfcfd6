/** Number of digits, enough for a million entries a second during eleven days. */
const DIGITS = 12;

/** Makes an entry's `_id`: `<log>:<number>`, padded so that ids sort like numbers. */
export function numberId(logId: string, sequence: number): string {
  return `${logId}:${String(sequence).padStart(DIGITS, "0")}`;
}

export function sequenceOf(id: string): number {
  return Number(id.slice(-DIGITS));
}

export function parseNumberId(id: string): { logId: string; sequence: number } {
  return { logId: id.split(":", 1)[0] as string, sequence: sequenceOf(id) };
}

/** The greatest code point, which has no successor. */
const LAST = "\u{10ffff}";

/** Makes the least string that follows all strings with this prefix, in the order of their bytes. */
export function afterAll(prefix: string): string {
  const points = [...prefix];
  while (points.at(-1) === LAST) points.pop();
  const next = (points.pop()?.codePointAt(0) ?? 0) + 1;
  // No text has surrogates alone.
  return [...points, String.fromCodePoint(next === 0xd800 ? 0xe000 : next)].join("");
}

/**
 * Makes a filter for `_id`s that begin with `<owner>:`, from one of them on; in the order of bytes, `;`
 * follows `:`.
 */
export function idsFrom(owner: string, first = `${owner}:`): { $gte: string; $lt: string } {
  return { $gte: first, $lt: `${owner};` };
}
