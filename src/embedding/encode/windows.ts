/**
 * Length in tokens up to which a text gets one vector, whatever the model can take: the length that
 * sentence-transformers has MiniLM read, and about that of the bundled model's training texts.
 */
export const WHOLE_TOKENS = 256;
/**
 * The same limit in UTF-16 units, because a tokenizer may make one token of any run of letters or emoji without a
 * space.
 */
export const WHOLE_UNITS = 2048;

/** A part of a text, by positions in UTF-16 units as in `slice`. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export interface WindowLimits {
  /** Maximum size of a window, in tokens and in UTF-16 units. */
  readonly tokensMax: number;
  readonly unitsMax: number;
  /** Whether each window repeats up to the last quarter of the one before it. */
  readonly overlap: boolean;
  countTokens(text: string): number;
}

/** Maximum share of a window that the next one repeats. */
const SHARED_SHARE = 1 / 4;
/** A last window below the first share begins earlier, so that it has at least the second one. */
const TAIL_SHARE = { min: 1 / 4, extended: 1 / 2 };
/** Share of a window above which a sentence may be cut. */
const SPAN_SHARE = 1 / 2;
/** Length below which sentences are joined: a text may have tens of thousands, and each span is counted. */
const SPAN_UNITS_MIN = 16;

/** Length of the slices in which sentences are found: each sentence takes time in proportion to the segmented text. */
const SLICE_UNITS = 1024;

/** Boundaries for cuts, the best ones first; a part without them is cut between code points. */
const SENTENCES = new Intl.Segmenter("und", { granularity: "sentence" });
/** Matches a sentence end without a space, in which Unicode's rules see an abbreviation such as "U.S.". */
const GLUED = /(?<=[.!?])(?=\p{Lu})/u;
const SMALLER = (["word", "grapheme"] as const).map(
  (granularity) => new Intl.Segmenter("und", { granularity }),
);

interface Span extends Part {
  readonly tokens: number;
}

/**
 * Cuts a text into windows that cover all of it except blanks: between sentences where they are short
 * enough, else between words, else between graphemes. A sentence of up to half a window is whole in one
 * of them. The last window is never a tiny remainder, because a few words without their context score
 * far above what they say. If tokens are spread unevenly over a long sentence, a window may exceed
 * `tokensMax`.
 */
export function windowsOf(text: string, limits: WindowLimits): Part[] {
  const spans = [...spansOf(text, limits)];
  const windows: Part[] = [];
  for (let first = 0; first < spans.length; ) {
    const next = fill(spans, first, limits);
    const end = (spans[next - 1] as Span).end;
    const isBlank = text.slice((spans[first] as Span).start, end).trim() === "";
    if (next === spans.length) first = beginTail(spans, first, limits);
    if (!isBlank) windows.push({ start: (spans[first] as Span).start, end });
    if (next === spans.length) break;
    first = limits.overlap ? Math.max(first + 1, repeat(spans, next, limits)) : next;
  }
  return windows;
}

/** Returns the index of the first span that does not fit into a window that starts with span `first`. */
function fill(spans: readonly Span[], first: number, { tokensMax, unitsMax }: WindowLimits): number {
  const { start, tokens } = spans[first] as Span;
  let next = first + 1;
  for (let sum = tokens; next < spans.length; next++) {
    const span = spans[next] as Span;
    sum += span.tokens;
    if (sum > tokensMax || span.end - start > unitsMax) break;
  }
  return next;
}

/** Returns the index of the first span that the next window repeats. */
function repeat(spans: readonly Span[], next: number, { tokensMax, unitsMax }: WindowLimits): number {
  const { end } = spans[next - 1] as Span;
  let first = next;
  for (let sum = 0; first > 0; first--) {
    const span = spans[first - 1] as Span;
    sum += span.tokens;
    if (sum > tokensMax * SHARED_SHARE || end - span.start > unitsMax * SHARED_SHARE) break;
  }
  return first;
}

/** Returns the index of the span with which the last window begins, in place of `first`. */
function beginTail(spans: readonly Span[], first: number, { tokensMax, unitsMax }: WindowLimits): number {
  const { end } = spans.at(-1) as Span;
  let tokens = spans.slice(first).reduce((sum, span) => sum + span.tokens, 0);
  if (tokens >= tokensMax * TAIL_SHARE.min) return first;
  let begin = first;
  // It never holds all of the window before it, because the two together did not fit into one.
  for (; begin > 0 && tokens < tokensMax * TAIL_SHARE.extended; begin--) {
    const span = spans[begin - 1] as Span;
    tokens += span.tokens;
    if (tokens > tokensMax || end - span.start > unitsMax) break;
  }
  return begin;
}

/** Converts positions in UTF-16 units to positions in code points. */
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

/** Yields spans of at most half a window: short sentences joined, long ones cut. */
function* spansOf(text: string, { tokensMax, unitsMax, countTokens }: WindowLimits): Generator<Span> {
  for (const { start, end } of sentencesOf(text)) {
    const tokens = countTokens(text.slice(start, end));
    const most = Math.max(tokens / tokensMax, (end - start) / unitsMax) / SPAN_SHARE;
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
  for (const segment of segmentsOf(text)) {
    for (const sentence of segment.split(GLUED)) {
      end += sentence.length;
      if (end - start < SPAN_UNITS_MIN && end < text.length) continue;
      yield { start, end };
      start = end;
    }
  }
}

/** Yields the same segments as `SENTENCES.segment(text)`, in time in proportion to the text. */
function* segmentsOf(text: string): Generator<string> {
  let sliceUnits = SLICE_UNITS;
  for (let start = 0; start < text.length; ) {
    const found: string[] = [];
    for (const { segment } of SENTENCES.segment(text.slice(start, start + sliceUnits))) {
      found.push(segment);
      // A longer slice is there for its first segment only.
      if (sliceUnits > SLICE_UNITS && found.length === 3) break;
    }
    // The text after a slice may continue its last segment, and may also join that one with the segment before it: in
    // "No. 5 of" the lower-case letter does.
    if (start + sliceUnits < text.length) found.splice(-2);
    yield* found;
    sliceUnits = found.length === 0 ? 2 * sliceUnits : SLICE_UNITS;
    for (const segment of found) start += segment.length;
  }
}

/**
 * Yields the ends of the longest spans between borders; a span that is too long is cut at smaller
 * borders.
 */
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
    const borderEnd = border > from ? border : border + at.segment.length;
    if (border > from) yield border;
    else yield* cutsIn(text, { start: from, end: borderEnd }, { max, borders: smaller });
    from = borderEnd;
  }
  if (end > from) yield end;
}

/** Moves an end that would split a code point's two units. */
export function wholeUpTo(text: string, end: number): number {
  return unitsAt(text, end - 1) === 2 ? end - 1 : end;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
}
