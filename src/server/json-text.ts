import { runToEnd } from "../concurrency/time-slices.js";
import { count, formatPath, invalid, type MemoryError, safeName } from "../errors.js";
import { beginsNumber, endOfToken, isHeld } from "../json-tokens.js";
import { isObject, METADATA_DEPTH_MAX } from "../memory/requests/metadata.js";
import { parseJson } from "../parse-json.js";

/** Number of digits up to which every integer is a double. */
const SAFE_DIGITS = 15;
/** Characters read before other work may run. */
const SLICE_CHARS = 32_768;

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

function parsed(text: string, what: string, isWhole = false): unknown {
  try {
    return parseJson(text);
  } catch {
    if (text.trim() === "") throw invalid(what, "is empty; send a JSON object");
    // The parser's own message quotes the text.
    throw invalid(what, `is not JSON${isWhole && text.length < LONG_BYTES ? whereFrom(text) : ""}`);
  }
}

/** A token of JSON with the space before it; a comma before a closing bracket, which is JavaScript's, is none. */
const TOKEN = /\s*(?:[[\]{}:]|,(?!\s*[\]}])|"(?:[^"\\\n\r\t]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/y;

/** Place of the first word that JSON does not have, such as `NaN` or a text in single quotes, as an error names it. */
function whereFrom(text: string): string {
  let end = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.test(text)) end = TOKEN.lastIndex;
  const rest = text.slice(end).trimStart();
  return rest === "" ? "" : ` from character ${text.length - rest.length + 1} on`;
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
/** Depth beyond which a body is refused here, because each level takes memory while it is read. The domain allows less. */
const NESTING_MAX = 72;

interface Reading {
  /** Name of the whole text in errors. */
  readonly what?: string;
  /** Path of a part whose fields errors name by their paths below it, such as a call's arguments. */
  readonly part?: string;
}

/**
 * Parses JSON as `JSON.parse` does, and returns the first loss that is silent there: a key that comes twice in one
 * object, or digits of an integer that no double holds. It goes once over the text without recursion, and yields every
 * millisecond or so. The elements of a long object's lists are parsed one by one: those of a batch may have megabytes.
 *
 * @throws MemoryError `invalid_argument` for what is not JSON, and for a long text with a list or an element that is
 * longer than any may be, or has more values, or is deeper.
 */
export function* parseInSteps(text: string, { what = "body", part = "" }: Reading = {}) {
  const scopes: Scope[] = [];
  /** Path of the value that is being read. */
  const pathOfValue = () => {
    const path = formatPath(scopes.map(({ isObject, key = "", index }) => (isObject ? key : index)));
    return (path.startsWith(`${part}.`) ? path.slice(part.length + 1) : path) || what;
  };
  const above = part === "" ? 0 : part.split(".").length;
  const isBound = text.length >= LONG_BYTES;
  /** Elements that are parsed, and the text up to there without them: each has its number in its place. */
  const parts: unknown[] = [];
  let [rest, copied] = ["", 0];
  let loss: MemoryError | undefined;
  const field = () => safeName(scopes[above]?.key ?? what);
  let expectsKey = false;
  for (let at = 0, end = 0, next = SLICE_CHARS; at < text.length; at = end) {
    if (at >= next) {
      yield;
      next = at + SLICE_CHARS;
    }
    const char = text.charCodeAt(at);
    end = endOfToken(text, at, char);
    const scope = scopes.at(-1);
    if (char === QUOTE) {
      if (!expectsKey || scope === undefined) continue;
      const literal = text.slice(at, end);
      scope.key = literal.includes("\\") ? String(parsed(literal, what)) : literal.slice(1, -1);
      scope.keys ??= new Set();
      const others = scope.keys.size;
      scope.keys.add(scope.key);
      if (scope.keys.size === others) loss ??= invalid(pathOfValue(), "is given twice");
      expectsKey = false;
    } else if (char === OBJECT || char === ARRAY) {
      expectsKey = char === OBJECT;
      scopes.push({ isObject: expectsKey, begin: at, index: 0, commas: 0 });
      if (isBound && scopes.length > NESTING_MAX) throw tooDeep(field());
    } else if (char === OBJECT_END || char === ARRAY_END) {
      expectsKey = false;
      const closed = scopes.pop();
      // What was closed is an element if it stands in an array that is a field of the body.
      const [, list] = scopes;
      if (!isBound || scopes.length !== 2 || list?.isObject !== false || closed === undefined) continue;
      if (list.index >= ELEMENTS_MAX) throw tooMany(field());
      if (end - closed.begin > ELEMENT_SIZE_MAX) throw elementTooLarge(field());
      rest += `${text.slice(copied, closed.begin)}{"part":${parts.length}}`;
      parts.push(parsed(text.slice(closed.begin, end), what));
      copied = end;
      yield;
    } else if (char === COMMA && scope !== undefined) {
      expectsKey = scope.isObject;
      scope.index++;
      const element = scopes[1]?.isObject === false ? scopes[2] : undefined;
      if (isBound && ++(element ?? (scopes[0] as Scope)).commas > COMMAS_MAX)
        throw invalid(element === undefined ? what : field(), TOO_MANY_VALUES);
    } else if (beginsNumber(char) && end - at > SAFE_DIGITS) {
      loss ??= lossOfNumber(text.slice(at, end), pathOfValue);
    }
  }
  const value = parsed(rest + text.slice(copied), what, parts.length === 0);
  for (const list of parts.length > 0 ? Object.values(value as object) : []) {
    if (!Array.isArray(list)) continue;
    for (const [i, element] of list.entries()) if (isObject(element)) list[i] = parts[element.part as number];
  }
  return { value, loss };
}

/** Parses JSON of which nothing may be lost. @throws MemoryError `invalid_argument` that names the field it is in. */
export function parseLossless(text: string, about?: Reading): unknown {
  const { value, loss } = runToEnd(parseInSteps(text, about));
  if (loss !== undefined) throw loss;
  return value;
}

/** Makes the error for a Struct that is deeper than any may be; of metadata it names the domain's limit. */
function tooDeep(field: string): MemoryError {
  const levels = field.endsWith("metadata") ? METADATA_DEPTH_MAX : NESTING_MAX;
  return invalid(field, `is more than ${levels} levels deep`);
}

const TOO_MANY_VALUES = `has more values in one request or element than any may have: ${count(COMMAS_MAX)}`;

/** Makes the error for an element of a list that is larger than any may be. */
export function elementTooLarge(name: string): MemoryError {
  return invalid(safeName(name), "has an element that is larger than a whole request with it alone may be");
}

/** Makes the error for a list that has more elements than any may have. */
export function tooMany(name: string): MemoryError {
  return invalid(safeName(name), `has more than ${count(ELEMENTS_MAX)} elements`);
}

/**
 * The loss of an integer that does not come back digit by digit. A fraction is understood to be the nearest double, and
 * a number that is not finite is refused by the domain.
 */
function lossOfNumber(literal: string, pathOfValue: () => string): MemoryError | undefined {
  const value = Number(literal);
  if (!Number.isFinite(value) || !/^-?\d+$/.test(literal) || isHeld(literal)) return undefined;
  const back = `would come back as ${value}; send it as a string`;
  const recorded = "has an integer that would come back as another one; send it as a string";
  return invalid(pathOfValue(), `has the integer ${literal.slice(0, 32)}, which ${back}`, recorded);
}
