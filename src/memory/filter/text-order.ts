/** Code units from here on are not in the order of the code points that they belong to. */
const SURROGATES_FROM = 0xd800;
const SURROGATES_TO = 0xe000;

/** Tells whether JavaScript's own order of a text and any other is that of their code points. */
export function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= SURROGATES_FROM) return false;
  return true;
}

/** Compares texts by their code points, which is the order of their bytes in UTF-8 as well. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [left, right] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

/** Moves surrogates, which stand for code points above all others, behind the rest. */
function rankOf(unit: number): number {
  return unit >= SURROGATES_FROM && unit < SURROGATES_TO ? unit + SURROGATES_TO : unit;
}
