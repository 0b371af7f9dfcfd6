import { toEnd } from "../concurrency/time-slices.js";
import { count, invalid, type MemoryError, shown } from "../errors.js";
import { beginsNumber, endOfToken, isHeld } from "../json-tokens.js";
import { isObject, METADATA_DEPTH_MAX } from "../memory/requests/metadata.js";
import { parseJson } from "../parse-json.js";

/** Number of digits up to which every integer is a double. */
const SAFE_DIGITS = 15;
/** Characters that are looked at before other work may run. */
const SLICE_CHARS = 32_768;
/** Characters of a path that an error may repeat. */
const PATH_MAX = 256;

const [QUOTE, COMMA] = [0x22, 0x2c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Array or object that is not closed yet. */
interface Scope {
  readonly isObject: boolean;
  /** Place in the text at which it begins. */
  readonly begin: number;
  /** Keys so far, once it has one: most arrays of metadata hold none. */
  keys?: Set<string>;
  /** Key of an object's present value. */
  key?: string;
  /** Number of an array's present value. */
  index: number;
  /** Commas of an element of a list and of all that is in it; those of the whole text beside them. */
  commas: number;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Decodes UTF-8 strictly: two names that differ in a broken byte would become one. A byte order mark says nothing.
 *
 * @throws MemoryError `invalid_argument`.
 */
export function textOf(bytes: Uint8Array, what = "body"): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalid(what, "is not UTF-8");
  }
}

function parsed(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // The parser's own message quotes the text.
    throw invalid(what, text.trim() === "" ? "is empty; send a JSON object" : "is not JSON");
  }
}

/** Size from which a body is decoded in steps. */
export const LONG_BYTES = 65_536;
/** Elements of a list in a request: no list may have more. */
export const ELEMENTS_MAX = 8_192;
/** Size of one element of a batch, which is no longer than a request with it alone. */
export const ELEMENT_SIZE_MAX = 1_048_576;
/**
 * Commas of a body beside its batch, and of one element of that: a filter of 65,536 bytes has half as many at most,
 * and a list one for each element. More keys would hold the thread while they are parsed in one step.
 */
const COMMAS_MAX = 40_960;
/** Depth of a Struct beyond which it is refused here: walking more would overflow the stack. The domain allows less. */
export const NESTING_MAX = 64;
/** Levels around a Struct, in an element of a batch or a tool's arguments, with some to spare. */
const LEVELS_AROUND = 8;

/** JSON that was read. */
interface Read {
  readonly value: unknown;
  /** The first part of the text that the value has lost. */
  readonly loss: MemoryError | undefined;
}

interface Reading {
  /** Name of the whole text in errors. */
  readonly what?: string | undefined;
  /**
   * Path of a part that will be written as JSON once more, such as a call's arguments; empty for all. Writing alters
   * other numbers too, -0 and those beyond all doubles, and nothing later sees what they were: with it they are lost as
   * well, and what is lost is named by its path below that part.
   */
  readonly rewritten?: string | undefined;
}

/** Place in a text that is being read. */
interface Place extends Reading {
  readonly scopes: readonly Scope[];
}

/**
 * Parses JSON as `JSON.parse` does, and tells what that drops in silence: a key that comes twice in one object, and
 * digits of an integer that no double holds. It goes once over the text without recursion, and yields every millisecond
 * or so. The elements of a long object's lists are parsed one by one: those of a batch may have megabytes.
 *
 * @throws MemoryError `invalid_argument` for what is not JSON, and for a long text with a list or an element that is
 * longer than any may be, or has more values, or is deeper. In the part that is written once more, that is a loss: the
 * part is empty then.
 */
export function* reading(text: string, { what = "body", rewritten }: Reading = {}): Generator<void, Read> {
  const scopes: Scope[] = [];
  const place = { scopes, what, rewritten };
  const above = rewritten ? rewritten.split(".") : [];
  const elements: [begin: number, end: number][] = [];
  let loss: MemoryError | undefined;
  let emptied: { readonly part: Scope; end: number } | undefined;
  const field = () => shown(scopes[above.length]?.key ?? what);
  const refuse = (error: MemoryError) => {
    const part = scopes[above.length];
    const isRewritten = above.length > 0 && above.every((key, i) => scopes[i]?.key === key);
    if (part === undefined || !isRewritten) throw error;
    loss = error;
    emptied = { part, end: text.length };
  };
  let expectsKey = false;
  for (let at = 0, end = 0, next = SLICE_CHARS; at < text.length; at = end) {
    if (at >= next) {
      yield;
      next = at + SLICE_CHARS;
    }
    const char = text.charCodeAt(at);
    end = endOfToken(text, at, char);
    const isBound = text.length >= LONG_BYTES && emptied === undefined;
    const scope = scopes.at(-1);
    if (char === QUOTE) {
      if (!expectsKey || scope === undefined) continue;
      const literal = text.slice(at, end);
      scope.key = literal.includes("\\") ? String(parsed(literal, what)) : literal.slice(1, -1);
      loss ??= lossOfKey(scope.key, place);
      expectsKey = false;
    } else if (char === OBJECT || char === ARRAY) {
      expectsKey = char === OBJECT;
      scopes.push({ isObject: expectsKey, begin: at, index: 0, commas: 0 });
      if (isBound && scopes.length > NESTING_MAX + LEVELS_AROUND) refuse(tooDeep(field()));
    } else if (char === OBJECT_END || char === ARRAY_END) {
      expectsKey = false;
      const closed = scopes.pop();
      if (emptied !== undefined && emptied.part === closed) emptied.end = at;
      const [, list] = scopes;
      if (!isBound || scopes.length !== 2 || list?.isObject !== false || closed === undefined) continue;
      if (list.index >= ELEMENTS_MAX) refuse(tooMany(field()));
      if (end - closed.begin > ELEMENT_SIZE_MAX) refuse(elementTooLarge(field()));
      elements.push([closed.begin, end]);
    } else if (char === COMMA && scope !== undefined) {
      expectsKey = scope.isObject;
      scope.index++;
      const element = scopes[1]?.isObject === false ? scopes[2] : undefined;
      if (isBound && ++(element ?? (scopes[0] as Scope)).commas > COMMAS_MAX)
        refuse(invalid(element === undefined ? (above.at(-1) ?? what) : field(), TOO_MANY_VALUES));
    } else if (beginsNumber(char) && (rewritten !== undefined || end - at > SAFE_DIGITS)) {
      loss ??= lossOfNumber(text.slice(at, end), place);
    }
  }
  if (emptied === undefined) return { value: yield* parsing(text, elements, what), loss };
  const others = text.slice(0, emptied.part.begin + 1) + text.slice(emptied.end);
  if (others.length >= LONG_BYTES) throw loss;
  return { value: parsed(others, what), loss };
}

/** Parses JSON of which nothing may be lost. @throws MemoryError `invalid_argument` that names the field it is in. */
export function parseLossless(text: string, about?: Reading): unknown {
  const { value, loss } = toEnd(reading(text, about));
  if (loss !== undefined) throw loss;
  return value;
}

/** Parses JSON, the elements of its lists that are at these places one by one. */
function* parsing(
  text: string,
  elements: readonly (readonly [begin: number, end: number])[],
  what: string,
): Generator<void, unknown> {
  const parts: unknown[] = [];
  // The text with the number of each element in its place.
  let rest = "";
  let copied = 0;
  for (const [begin, end] of elements) {
    rest += `${text.slice(copied, begin)}{"part":${parts.length}}`;
    parts.push(parsed(text.slice(begin, end), what));
    copied = end;
    yield;
  }
  const value = parsed(rest + text.slice(copied), what) as object | null;
  if (parts.length === 0) return value;
  for (const list of Object.values(value ?? {})) {
    if (!Array.isArray(list)) continue;
    for (const [i, element] of list.entries()) if (isObject(element)) list[i] = parts[element.part as number];
  }
  return value;
}

/** Makes the error for a Struct that is deeper than any may be; of metadata it names the domain's limit. */
export function tooDeep(field: string): MemoryError {
  const levels = field.endsWith("metadata") ? METADATA_DEPTH_MAX : NESTING_MAX;
  return invalid(field, `is more than ${levels} levels deep`);
}

const TOO_MANY_VALUES = `has more values in one request or element than any may have: ${count(COMMAS_MAX)}`;

/** Makes the error for an element of a list that is larger than any may be. */
export function elementTooLarge(name: string): MemoryError {
  return invalid(shown(name), "has an element that is larger than a whole request with it alone may be");
}

/** Makes the error for a list that has more elements than any may have. */
export function tooMany(name: string): MemoryError {
  return invalid(shown(name), `has more than ${count(ELEMENTS_MAX)} elements`);
}

/** Notes the key that was read, and returns the loss of its value before, if there is one. */
function lossOfKey(key: string, place: Place): MemoryError | undefined {
  const scope = place.scopes.at(-1) as Scope;
  scope.keys ??= new Set();
  const others = scope.keys.size;
  scope.keys.add(key);
  return scope.keys.size === others ? invalid(pathOf(place), "is given twice") : undefined;
}

/** Names the value that is being read by its path, below the part that is written once more. */
function pathOf({ scopes, what = "", rewritten }: Place): string {
  const steps = scopes.map(({ isObject, key, index }) => (isObject ? `.${shown(key ?? "")}` : `[${index}]`));
  const path = steps.join("").slice(1);
  const isBelow = rewritten !== undefined && path.startsWith(`${rewritten}.`);
  return (isBelow ? path.slice(rewritten.length + 1) : path).slice(0, PATH_MAX) || what;
}

const UNWRITTEN = "has a number that would not come back as it was sent";

/** The loss of a number that does not come back digit by digit. A fraction is understood to be the nearest double. */
function lossOfNumber(literal: string, place: Place): MemoryError | undefined {
  const value = Number(literal);
  const isDouble = Number.isFinite(value);
  const given = literal.slice(0, 32);
  if (place.rewritten !== undefined && !isDouble)
    return invalid(
      pathOf(place),
      `has the number ${given}, which is beyond all doubles; send a string`,
      UNWRITTEN,
    );
  if (place.rewritten !== undefined && Object.is(value, -0))
    return invalid(pathOf(place), `has the number ${given}, which would come back as 0; send 0`, UNWRITTEN);
  // Elsewhere, a number that is not finite is refused by the domain.
  if (literal.length <= SAFE_DIGITS || !isDouble || !/^-?\d+$/.test(literal) || isHeld(literal))
    return undefined;
  const back = `would come back as ${value}; send it as a string`;
  const recorded = "has an integer that would come back as another one; send it as a string";
  return invalid(pathOf(place), `has the integer ${given}, which ${back}`, recorded);
}
