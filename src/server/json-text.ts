import { invalid } from "../errors.js";
import { endOfNumber, endOfString, isDigit, isHeld } from "../json-tokens.js";

/** Number of digits up to which every integer is a double. */
const SAFE_DIGITS = 15;
/** Characters of a path that an error may repeat. */
const PATH_MAX = 256;

const [QUOTE, COMMA, MINUS] = [0x22, 0x2c, 0x2d];
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
    return JSON.parse(text);
  } catch {
    throw invalid(what, "is not JSON");
  }
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
  const scopes: Scope[] = [];
  const reading: Reading = { scopes, rewritten };
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at);
      if (expectsKey) {
        add(unquoted(text.slice(at, end)), reading);
        expectsKey = false;
      }
      at = end - 1;
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
    } else if (char === MINUS || isDigit(char)) {
      const end = endOfNumber(text, at);
      if (rewritten !== undefined) checkWritten(text.slice(at, end), reading);
      if (end - at > SAFE_DIGITS) checkInteger(text.slice(at, end), reading);
      at = end - 1;
    }
  }
}

/** Place in a text that is being read. */
interface Reading {
  readonly scopes: readonly Scope[];
  readonly rewritten: string | undefined;
}

function add(key: string, reading: Reading): void {
  const scope = reading.scopes.at(-1) as Scope;
  const isTwice = scope.keys?.has(key) === true;
  scope.keys ??= new Set();
  scope.keys.add(key);
  scope.key = key;
  if (isTwice) throw invalid(pathOf(reading), "is given twice");
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
    key
      .replace(/rcl_\w*/g, "rcl_…")
      .replace(/[^\p{L}\p{N}_.…-]/gu, "?")
      .slice(0, 64) || "?"
  );
}
