/** Characters of a word that are compared: what is longer is no name with a slip in it. */
const WORD_CHARS_MAX = 64;
/** Letters of both words together from which one edit is a slip, and from which two are. */
const ONE_EDIT_CHARS = 5;
const TWO_EDITS_CHARS = 10;
/** Letters from which the beginning or the end of a name tells the name. */
const PART_CHARS_MIN = 4;

/**
 * Candidate that a word was probably meant to be; undefined if none is near. Case, spaces, `_`, `-` and a
 * leading `$` make no difference. Of two that are as near, the one with more of the same first letters is taken.
 */
export function didYouMean<Name extends string>(word: string, candidates: readonly Name[]): Name | undefined {
  const given = plain(word.slice(0, WORD_CHARS_MAX));
  let best: { candidate: Name; edits: number; alike: number } | undefined;
  for (const candidate of candidates) {
    const name = plain(candidate);
    const max = editsMax(given.length + name.length);
    if (Math.abs(name.length - given.length) > max) continue;
    const edits = distance(given, name);
    const alike = commonPrefix(given, name);
    if (edits > max || (best && (edits > best.edits || (edits === best.edits && alike <= best.alike))))
      continue;
    best = { candidate, edits, alike };
  }
  return best?.candidate;
}

/**
 * The end of a message that refuses a word: `; did you mean top_k?`, or nothing. Beside slips, a word may be the
 * beginning or the end of what was meant, as `newest` is of `NEWEST_FIRST`.
 */
export function suggestion(word: string, candidates: readonly string[]): string {
  const given = plain(word.slice(0, WORD_CHARS_MAX));
  const isPart = (name: string) => name.startsWith(given) || name.endsWith(given);
  const parts = given.length < PART_CHARS_MIN ? [] : candidates.filter((each) => isPart(plain(each)));
  const meant = didYouMean(word, candidates) ?? parts[0];
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

function plain(word: string): string {
  return word.toLowerCase().replace(/^\$|[\s_-]/g, "");
}

function editsMax(chars: number): number {
  return chars >= TWO_EDITS_CHARS ? 2 : chars >= ONE_EDIT_CHARS ? 1 : 0;
}

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Number of edits that make one name of the other: letters added, left out or replaced, and neighbors swapped. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (before[j - 2] as number) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}
