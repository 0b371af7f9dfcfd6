/** Number of digits, enough for a million entries a second during eleven days. */
const DIGITS = 12;

/** Makes an entry's `_id`: `<log>:<number>`, padded so that ids sort like numbers. */
export function numberId(logId: string, sequence: number): string {
  return `${logId}:${String(sequence).padStart(DIGITS, "0")}`;
}

export function sequenceOf(id: string): number {
  return Number(id.slice(-DIGITS));
}

/**
 * Makes a filter for `_id`s that begin with `<owner>:`, from one of them on; in the order of bytes, `;`
 * follows `:`.
 */
export function idsFrom(owner: string, first = `${owner}:`): { $gte: string; $lt: string } {
  return { $gte: first, $lt: `${owner};` };
}
