/**
 * The longest text that gets one vector, in tokens, whatever the model can take: as much as
 * sentence-transformers has MiniLM read, and about what the bundled model was trained on.
 */
export const WHOLE_TOKENS = 256;
/** A part of a text, in UTF-16 units, as strings are sliced. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export interface WindowLimits {
  /** Of a window: in tokens, and in UTF-16 units. */
  readonly tokensMax: number;
  readonly unitsMax: number;
  /** Whether a window repeats up to the last quarter of the one before it. */
  readonly overlap: boolean;
  countTokens(text: string): number;
}

/** How much of a window the next one may repeat. */
const SHARED_SHARE = 1 / 4;
/** A last window of less than the first share begins earlier, so that it has the second one at least. */
const TAIL_SHARE = { min: 1 / 4, extended: 1 / 2 };
/** A sentence that takes more than this share of a window may be cut. */
const PIECE_SHARE = 1 / 2;
/** Shorter sentences are put together: there may be ten thousands of them, and each piece is counted. */
const PIECE_UNITS_MIN = 16;

/** Where a text may be cut, the best places first; what is too long still is cut between code points. */
const SENTENCES = new Intl.Segmenter("und", { granularity: "sentence" });
/** Unicode's rules see an abbreviation here, such as "U.S."; without a space it is as often a new sentence. */
const GLUED = /(?<=[.!?])(?=\p{Lu})/u;
const SMALLER = (["word", "grapheme"] as const).map(
  (granularity) => new Intl.Segmenter("und", { granularity }),
);

interface Piece extends Part {
  readonly tokens: number;
}

/**
 * Cuts a text into windows that cover all of it but what is blank: between sentences where they are
 * short enough, else between words, else between graphemes. A sentence of up to half a window is whole
 * in one of them. The last one is never a tiny remainder, because a few words out of their context
 * score far above what they say. Where tokens are spread unevenly over a long sentence, a window may come out longer
 * than `tokensMax`.
 */
export function windowsOf(text: string, limits: WindowLimits): Part[] {
  const pieces = [...piecesOf(text, limits)];
  const windows: Part[] = [];
  for (let first = 0; first < pieces.length; ) {
    const behind = fill(pieces, first, limits);
    const end = (pieces[behind - 1] as Piece).end;
    const isBlank = text.slice((pieces[first] as Piece).start, end).trim() === "";
    if (behind === pieces.length) first = beginTail(pieces, first, limits);
    if (!isBlank) windows.push({ start: (pieces[first] as Piece).start, end });
    if (behind === pieces.length) break;
    first = limits.overlap ? Math.max(first + 1, repeat(pieces, behind, limits)) : behind;
  }
  return windows;
}

/** The number of the first piece that does not fit into a window from piece `first` on. */
function fill(pieces: readonly Piece[], first: number, { tokensMax, unitsMax }: WindowLimits): number {
  const { start, tokens } = pieces[first] as Piece;
  let behind = first + 1;
  for (let sum = tokens; behind < pieces.length; behind++) {
    const piece = pieces[behind] as Piece;
    sum += piece.tokens;
    if (sum > tokensMax || piece.end - start > unitsMax) break;
  }
  return behind;
}

/** The number of the first piece that the next window repeats. */
function repeat(pieces: readonly Piece[], behind: number, { tokensMax, unitsMax }: WindowLimits): number {
  const { end } = pieces[behind - 1] as Piece;
  let first = behind;
  for (let sum = 0; first > 0; first--) {
    const piece = pieces[first - 1] as Piece;
    sum += piece.tokens;
    if (sum > tokensMax * SHARED_SHARE || end - piece.start > unitsMax * SHARED_SHARE) break;
  }
  return first;
}

/** The number of the piece that the last window begins with, in place of `first`. */
function beginTail(pieces: readonly Piece[], first: number, { tokensMax, unitsMax }: WindowLimits): number {
  const { end } = pieces.at(-1) as Piece;
  let tokens = pieces.slice(first).reduce((sum, piece) => sum + piece.tokens, 0);
  if (tokens >= tokensMax * TAIL_SHARE.min) return first;
  let begin = first;
  // It never holds all of the window before it, because both together did not fit into one.
  for (; begin > 0 && tokens < tokensMax * TAIL_SHARE.extended; begin--) {
    const piece = pieces[begin - 1] as Piece;
    tokens += piece.tokens;
    if (tokens > tokensMax || end - piece.start > unitsMax) break;
  }
  return begin;
}

/** Positions in UTF-16 units, counted in code points. */
export function inCodePoints(text: string, positions: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  let at = 0;
  let count = 0;
  for (const position of [...positions].sort((a, b) => a - b)) {
    for (; at < position; count++) at += unitsAt(text, at);
    counts.set(position, count);
  }
  return counts;
}

/** Sentences, short ones together and long ones in parts, none of more than half a window. */
function* piecesOf(text: string, { tokensMax, unitsMax, countTokens }: WindowLimits): Generator<Piece> {
  for (const { start, end } of sentencesOf(text)) {
    const tokens = countTokens(text.slice(start, end));
    const most = Math.max(tokens / tokensMax, (end - start) / unitsMax) / PIECE_SHARE;
    const max = Math.max(2, Math.floor((end - start) / Math.max(1, most)));
    let from = start;
    for (const next of cutsIn(text, { start, end }, { max, borders: SMALLER })) {
      yield { start: from, end: next, tokens: Math.ceil((tokens * (next - from)) / (end - start)) };
      from = next;
    }
  }
}

function* sentencesOf(text: string): Generator<Part> {
  let start = 0;
  let end = 0;
  for (const { segment } of SENTENCES.segment(text)) {
    for (const sentence of segment.split(GLUED)) {
      end += sentence.length;
      if (end - start < PIECE_UNITS_MIN && end < text.length) continue;
      yield { start, end };
      start = end;
    }
  }
}

/** The ends of pieces as long as fits between borders; what is too long between two is cut at smaller ones. */
function* cutsIn(
  text: string,
  { start, end }: Part,
  { max, borders: [segmenter, ...smaller] }: { max: number; borders: readonly Intl.Segmenter[] },
): Generator<number> {
  const segments = end - start > max ? segmenter?.segment(text.slice(start, end)) : undefined;
  let from = start;
  while (end - from > max) {
    const at = segments?.containing(from + max - start) ?? {
      index: wholeUpTo(text, from + max) - start,
      segment: "",
    };
    const border = start + at.index;
    const behind = border > from ? border : border + at.segment.length;
    if (border > from) yield border;
    else yield* cutsIn(text, { start: from, end: behind }, { max, borders: smaller });
    from = behind;
  }
  if (end > from) yield end;
}

/** Not between the two units of a code point. */
function wholeUpTo(text: string, end: number): number {
  return unitsAt(text, end - 1) === 2 ? end - 1 : end;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}
