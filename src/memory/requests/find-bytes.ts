/** Bytes up to which the platform's search is quick at its worst. */
const SHORT_BYTES = 32;

/**
 * Makes a function that finds bytes in others, as `Buffer.indexOf` does, but in time in proportion to their number: the
 * platform compares a long text that repeats itself anew at each place.
 */
export function finderOf(sought: Uint8Array): (within: Buffer, from?: number) => number {
  if (sought.length <= SHORT_BYTES) return (within, from) => within.indexOf(sought, from);
  const head = sought.subarray(0, SHORT_BYTES);
  // By Knuth, Morris and Pratt: how long a beginning ends at each byte of what is sought, other than all up to there.
  const borders = new Int32Array(sought.length);
  const longer = (length: number, byte: number | undefined) => {
    let reached = length;
    while (reached > 0 && byte !== sought[reached]) reached = borders[reached - 1] as number;
    return byte === sought[reached] ? reached + 1 : reached;
  };
  for (let i = 1; i < sought.length; i++) borders[i] = longer(borders[i - 1] as number, sought[i]);
  return (within, from) => {
    const first = within.indexOf(head, from);
    if (first === -1) return -1;
    for (let i = first, length = 0; i < within.length; i++) {
      length = longer(length, within[i]);
      if (length === sought.length) return i + 1 - length;
    }
    return -1;
  };
}
