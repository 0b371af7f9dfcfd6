/** Signs that may stand between two words of one identifier. */
const JOINTS: ReadonlySet<string> = new Set(["_", ".", "/", ":", "@", "-", "::", "->"]);
const SPACE = 32;
const JOINT = /::|->|[_./:@-]/;

const [HASH, AND, PLUS, DOT] = [35, 38, 43, 46];
const SIGNS = /[#&+]|\.[A-Za-z]/;
/**
 * Signs that make a name with the word before: `C++`, also in `C++17`, and `F#`, but not `a+b` or `page#part`. A name
 * with `&` begins before the first of them: to begin at each would take the square of their number.
 */
const SIGNS_AFTER =
  /\+\+|[+#](?![A-Za-z0-9])|(?<!&[\p{Script=Latin}\p{Script=Cyrillic}\p{N}]*)(?:&[\p{Script=Latin}\p{Script=Cyrillic}\p{N}]+)+/uy;
const DOT_BEFORE = /(?<![\w.!?)\]])\.(?=[A-Za-z])/y;

const HUMP = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const HUMPS = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?\p{Ll}+\p{N}*|\p{N}+|\p{L}+/gu;
const MEASURE = /^(\p{N}+)(\p{L}+)$/u;

/** Divides `camelCase` and numbers with units into their parts; none if the word has no parts. */
export function partsOf(word: string): readonly string[] {
  if (HUMP.test(word)) return (word.match(HUMPS) ?? []).map((part) => part.toLowerCase());
  const measure = MEASURE.exec(word.toLowerCase());
  return measure === null ? [] : measure.slice(1);
}

/** Quick check: false for most texts, which have no words that make names with signs. */
export function mayHaveSigns(text: string): boolean {
  return SIGNS.test(text);
}

/** Returns the name that a word makes with the signs at its sides, such as `AT&T`, `C++` or `.NET`, if it does. */
export function namedBySigns(text: string, from: number, to: number): string | undefined {
  const before = text.charCodeAt(from - 1);
  const after = text.charCodeAt(to);
  const mayEnd = after === HASH || after === PLUS || after === AND;
  const signs = mayEnd ? matchAt(SIGNS_AFTER, text, to) : "";
  const dot = before === DOT ? matchAt(DOT_BEFORE, text, from - 1) : "";
  return signs || dot ? `${dot}${text.slice(from, to)}${signs}`.toLowerCase() : undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** Joins the words of a text that stand together as one identifier, while the text is read from its start. */
export class Joiner {
  #from = 0;
  #to = 0;
  #words = 0;

  constructor(private readonly text: string) {}

  /** Takes the next word's place; returns the identifier that ended before it, if there was one. */
  next(from: number, to: number): string | undefined {
    if (this.#words > 0 && this.#isJoint(this.#to, from)) {
      this.#to = to;
      this.#words++;
      return undefined;
    }
    const ended = this.end();
    [this.#from, this.#to, this.#words] = [from, to, 1];
    return ended;
  }

  #isJoint(from: number, to: number): boolean {
    // No joint is longer than two characters, and between most words is a space.
    if (to - from > 2 || this.text.charCodeAt(from) === SPACE) return false;
    return JOINTS.has(this.text.slice(from, to));
  }

  /** Returns the identifier that the last words make, if they make one. */
  end(): string | undefined {
    if (this.#words < 2) return undefined;
    const joined = this.text.slice(this.#from, this.#to);
    return isIdentifier(joined, this.text[this.#from - 1]) ? joined.toLowerCase() : undefined;
  }
}

/**
 * True if joined words are a name rather than prose: `snake_case`, `a::b`, `someone@somewhere`, `1.2.3`,
 * `2023-05-07`, `some/path.ts`, `file.ts`, `--dry-run`; but not `well-known`, `and/or`, `e.g` or `end.Next`.
 */
function isIdentifier(joined: string, before: string | undefined): boolean {
  if (/_|::|->|@/.test(joined)) return true;
  if (before === "-" && joined.includes("-")) return true;
  const words = joined.split(JOINT);
  if (words.every((word) => /^v?\d/i.test(word))) return true;
  if (joined.includes("/") && (words.length > 2 || joined.includes("."))) return true;
  return joined.includes(".") && words.every(({ length }) => length > 1) && !/\.\p{Lu}/u.test(joined);
}
