import { toEnd } from "../concurrency/time-slices.js";
import { count, invalid, type MemoryError, withoutKeys } from "../errors.js";
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
  /** Keys so far, once it has one: most arrays of metadata hold none. */
  keys?: Set<string>;
  /** Key of an object's present value. */
  key?: string;
  /** Number of an array's present value. */
  index: number;
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

/** Parses JSON. @throws MemoryError `invalid_argument`. */
export function parsed(text: string, what = "body"): unknown {
  try {
    return parseJson(text);
  } catch {
    throw notJson(text, what);
  }
}

/** Makes the error for broken JSON. The parser's own message quotes the text. */
export function notJson(text: string, what = "body"): MemoryError {
  return invalid(what, text.trim() === "" ? "is empty; send a JSON object" : "is not JSON");
}

/**
 * Refuses what `JSON.parse` drops in silence: a key that comes twice in one object, and digits of an integer
 * that no double holds. The text must be valid JSON of an object. One pass without recursion.
 *
 * `rewritten` is the path of a part that will be written as JSON once more, such as a call's arguments. Writing
 * alters other numbers too, -0 and those beyond all doubles, and nothing later sees what they were: with it
 * they are refused, and what is refused is named by its path below that part.
 *
 * @throws MemoryError `invalid_argument` that names the field it is in.
 */
export function checkNothingIsLost(text: string, rewritten?: string): void {
  toEnd(checkingNothingIsLost(text, rewritten));
}

/** Checks as `checkNothingIsLost` does, and yields every millisecond or so. */
export function* checkingNothingIsLost(text: string, rewritten?: string): Generator<void, void> {
  const scopes: Scope[] = [];
  const reading: Reading = { scopes, rewritten };
  let expectsKey = false;
  for (let at = 0, end = 0, next = SLICE_CHARS; at < text.length; at = end) {
    if (at >= next) {
      yield;
      next = at + SLICE_CHARS;
    }
    const char = text.charCodeAt(at);
    end = endOfToken(text, at, char);
    if (char === QUOTE) {
      if (!expectsKey) continue;
      add(unquoted(text.slice(at, end)), reading);
      expectsKey = false;
    } else if (char === OBJECT || char === ARRAY) {
      expectsKey = char === OBJECT;
      scopes.push({ isObject: expectsKey, index: 0 });
    } else if (char === OBJECT_END || char === ARRAY_END) {
      expectsKey = false;
      scopes.pop();
    } else if (char === COMMA) {
      const scope = scopes.at(-1) as Scope;
      expectsKey = scope.isObject;
      scope.index++;
    } else if (beginsNumber(char)) {
      if (rewritten !== undefined) checkWritten(text.slice(at, end), reading);
      if (end - at > SAFE_DIGITS) checkInteger(text.slice(at, end), reading);
    }
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

/**
 * Parses JSON of an object as `JSON.parse` does, but the elements of its lists one by one, and yields after each: those
 * of a batch may have megabytes. `name` is that of the whole text in errors, and the keys of its fields are at
 * `fieldDepth`.
 *
 * @throws MemoryError `invalid_argument` for a list or an element that is longer than any may be, or has more values;
 * SyntaxError.
 */
export function* parseInParts(
  text: string,
  { name, fieldDepth } = { name: "body", fieldDepth: 1 },
): Generator<void, unknown> {
  const parts: unknown[] = [];
  // The text with the number of each part in its place.
  let rest = "";
  let [copied, depth, elements, begin] = [0, 0, 0, -1];
  let [commas, commasInElement] = [0, 0];
  let key = "";
  let isInList = false;
  for (let at = 0, end = 0, next = SLICE_CHARS; at < text.length; at = end) {
    if (at >= next) {
      yield;
      next = at + SLICE_CHARS;
    }
    const char = text.charCodeAt(at);
    end = endOfToken(text, at, char);
    if (char === QUOTE) {
      // The last string before a value is its key.
      if (depth === fieldDepth) key = text.slice(at, end);
    } else if (char === OBJECT || char === ARRAY) {
      depth++;
      if (depth > NESTING_MAX + LEVELS_AROUND) throw tooDeep(key === "" ? name : shown(unquoted(key)));
      if (depth === 2) [isInList, elements] = [char === ARRAY, 0];
      if (depth === 3 && isInList) [begin, commasInElement] = [at, 0];
    } else if (char === OBJECT_END || char === ARRAY_END) {
      depth--;
      if (depth !== 2 || begin === -1) continue;
      if (++elements > ELEMENTS_MAX) throw tooMany(unquoted(key));
      if (end - begin > ELEMENT_SIZE_MAX) throw elementTooLarge(unquoted(key));
      rest += `${text.slice(copied, begin)}{"part":${parts.length}}`;
      parts.push(parseJson(text.slice(begin, end)));
      [copied, begin] = [end, -1];
      yield;
    } else if (char === COMMA) {
      const isTooMany = begin === -1 ? ++commas > COMMAS_MAX : ++commasInElement > COMMAS_MAX;
      if (isTooMany) throw invalid(begin === -1 ? name : shown(unquoted(key)), TOO_MANY_VALUES);
    }
  }
  const value = parseJson(rest + text.slice(copied)) as object | null;
  for (const list of Object.values(value ?? {})) {
    if (!Array.isArray(list)) continue;
    for (const [i, element] of list.entries()) if (isObject(element)) list[i] = parts[element.part as number];
  }
  return value;
}

/** Writes the arrays and objects of JSON that are below a depth as empty ones. */
export function emptiedBelow(text: string, depthMax: number): string {
  let written = "";
  let [copied, depth] = [0, 0];
  for (let at = 0; at < text.length; at = endOfToken(text, at)) {
    const char = text.charCodeAt(at);
    if (char === OBJECT || char === ARRAY) {
      if (depth++ === depthMax) written += text.slice(copied, at + 1);
    } else if (char === OBJECT_END || char === ARRAY_END) {
      if (--depth === depthMax) copied = at;
    }
  }
  return written + text.slice(copied);
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

/** Place in a text that is being read. */
interface Reading {
  readonly scopes: readonly Scope[];
  readonly rewritten: string | undefined;
}

function add(key: string, reading: Reading): void {
  const scope = reading.scopes.at(-1) as Scope;
  scope.keys ??= new Set();
  const others = scope.keys.size;
  scope.keys.add(key);
  scope.key = key;
  if (scope.keys.size === others) throw invalid(pathOf(reading), "is given twice");
}

/** Names the value that is being read by its path, below the part that is written once more. */
function pathOf({ scopes, rewritten }: Reading): string {
  const steps = scopes.map(({ isObject, key, index }) => (isObject ? `.${shown(key ?? "")}` : `[${index}]`));
  const path = steps.join("").slice(1);
  const isBelow = rewritten !== undefined && path.startsWith(`${rewritten}.`);
  return (isBelow ? path.slice(rewritten.length + 1) : path).slice(0, PATH_MAX);
}

/** Checks that an integer comes back digit by digit. A fraction is understood to be the nearest double. */
function checkInteger(literal: string, reading: Reading): void {
  const value = Number(literal);
  // A number that is not finite is refused by the domain.
  if (!/^-?\d+$/.test(literal) || !Number.isFinite(value) || isHeld(literal)) return;
  const back = `would come back as ${value}; send it as a string`;
  const recorded = "has an integer that would come back as another one; send it as a string";
  throw invalid(pathOf(reading), `has the integer ${literal.slice(0, 32)}, which ${back}`, recorded);
}

const UNWRITTEN = "has a number that would not come back as it was sent";

/** Checks that a number is one that can be written as it was read. */
function checkWritten(literal: string, reading: Reading): void {
  const value = Number(literal);
  const number = `has the number ${literal.slice(0, 32)}, which`;
  if (!Number.isFinite(value))
    throw invalid(pathOf(reading), `${number} is beyond all doubles; send a string`, UNWRITTEN);
  if (Object.is(value, -0))
    throw invalid(pathOf(reading), `${number} would come back as 0; send 0`, UNWRITTEN);
}

function unquoted(literal: string): string {
  return literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1);
}

/** Shortens a key to what an error may repeat, all printable. */
export function shown(key: string): string {
  return (
    withoutKeys(key)
      .replace(/[^\p{L}\p{N}_.…-]/gu, "?")
      .slice(0, 64) || "?"
  );
}
