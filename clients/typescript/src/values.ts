import { RecalldError } from "./errors.js";

/** Levels of lists and objects below which nothing is looked at: the server takes far fewer. */
const LEVELS_MAX = 100;

/** A value inside a request. */
interface Location {
  /** Path of the value, as the caller writes it: `memories[3].metadata.year`; empty for the request. */
  readonly path: string;
  /** Lists and objects that the value is in. */
  readonly within: readonly object[];
}

/**
 * Checks that JSON can write a value without changing it. `JSON.stringify` itself writes `null` for NaN,
 * `{}` for a Map, and leaves out a function, so the caller would learn of it when the memory is recalled.
 *
 * @throws RecalldError `invalid_argument` that names the first value that cannot be written.
 */
export function checkWritable(value: unknown, path = ""): void {
  try {
    check(value, { path, within: [] });
  } catch (cause) {
    if (cause instanceof RecalldError) throw cause;
    // A getter or a `toJSON` of the caller's own.
    throw new RecalldError("invalid_argument", "the request cannot be read", { cause });
  }
}

function check(value: unknown, location: Location): void {
  // JSON.stringify would write bytes as an object with a key for each.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) throw refused(location, "bytes");
  const written = asJson(value, location);
  if (typeof written === "number") checkNumber(written, location);
  else if (typeof written === "object" && written !== null) checkInside(written, location);
  else if (typeof written === "bigint") throw refused(location, `the BigInt ${written}`);
  else if (typeof written === "function" || typeof written === "symbol")
    throw refused(location, `a ${typeof written}`);
}

/** Returns what a value says of itself, as JSON.stringify asks it. */
function asJson(value: unknown, location: Location): unknown {
  const { toJSON } = Object(value ?? 0) as { toJSON?: unknown };
  if (typeof toJSON !== "function") return value;
  const written: unknown = toJSON.call(value);
  if (value instanceof Date && written === null) throw refused(location, "an invalid Date");
  return written;
}

function checkNumber(value: number, location: Location): void {
  if (!Number.isFinite(value)) throw refused(location, String(value));
  if (Object.is(value, -0)) throw refused(location, "-0", "would come back as 0; send 0");
}

function checkInside(value: object, { path, within }: Location): void {
  if (within.includes(value)) throw refused({ path, within }, "an object that it is inside of");
  if (within.length === LEVELS_MAX)
    throw refused({ path, within }, `a value more than ${LEVELS_MAX} levels deep`);
  const inner = [...within, value];
  if (Array.isArray(value)) {
    for (const [n, item] of value.entries()) {
      const location = { path: `${path}[${n}]`, within: inner };
      if (item === undefined) throw refused(location, "undefined");
      check(item, location);
    }
    return;
  }
  const members = Object.entries(value);
  if (members.length === 0 && !isPlain(value)) throw refused({ path, within }, `a ${nameOf(value)}`);
  // JSON leaves out a member that is undefined: so do callers who have no value.
  for (const [key, member] of members)
    check(member, { path: path === "" ? key : `${path}.${key}`, within: inner });
}

/** True for objects that are written out, false for instances of classes, also of another window or context. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: object): string {
  return (value.constructor as { name?: string } | undefined)?.name || "object of a class";
}

const UNWRITABLE = "JSON cannot write; send it as a string or leave it out";

function refused({ path }: Location, what: string, why = UNWRITABLE): RecalldError {
  const field = path === "" ? "request" : path;
  const message = `${field} is ${what}, which ${why}`;
  return new RecalldError("invalid_argument", message, { field });
}
