import { createHash } from "node:crypto";
import { formatPath } from "../../../src/errors.js";
import { isObject, type Json, type JsonObject } from "../../../src/memory/requests/metadata.js";
import { type Imported, type Line, OtherFormatError, type Problem, type Read } from "../imported.js";
import { jsonOf, literalOf, lostIn, parseForeignJson } from "./json.js";

/** Member of a memory's metadata that says where it comes from. */
const ORIGIN = "imported_from";

export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function isBlank(line: Line): boolean {
  return "text" in line && line.text.trim() === "";
}

/** Parses a line; undefined if it is not JSON of an object. */
export function parsedObject(line: string): JsonObject | undefined {
  try {
    return objectOf(parseForeignJson(line));
  } catch {
    return undefined;
  }
}

export function otherFormat(expected: string): OtherFormatError {
  return new OtherFormatError(`the file is not ${expected}`);
}

export interface Located {
  readonly value: unknown;
  readonly location: string;
}

/** Writes the path of a member: `$[3].mapping.abc`, or `mapping["a b"]` for a name that is no word. */
export function locationIn(location: string, member: string | number): string {
  if (typeof member === "number") return `${location}[${member}]`;
  return /^[\w-]{1,64}$/.test(member)
    ? `${location}.${member}`
    : `${location}[${JSON.stringify(member.slice(0, 64))}]`;
}

export function located(list: unknown, location: string): Located[] {
  return (listOf(list) ?? []).map((value, i) => ({ value, location: locationIn(location, i) }));
}

/**
 * Splits what was fetched page by page: a page, or a list of pages, each with a list under this path. A page of
 * another form is answered as it is, for its reader to name. Undefined if there is no page at all.
 */
export function pagedIn(json: unknown, ...path: readonly string[]): Located[] | undefined {
  const pages = Array.isArray(json) ? located(json, "$") : [{ value: json, location: "$" }];
  let found = false;
  const parts = pages.flatMap((page) => {
    let { value, location } = page;
    for (const member of path) {
      value = objectOf(value)?.[member];
      location = locationIn(location, member);
    }
    if (!Array.isArray(value)) return [{ value: undefined, location: page.location }];
    found = true;
    return located(value, location);
  });
  return found ? parts : undefined;
}

/** Skips a part of a file that has another form than its program writes. */
export function skip(sourceId: string, location: string, message: string): Problem {
  return { sourceId, location, result: "skipped", message };
}

/** Makes text of an id that is there; of numbers and of lists each digit counts. */
export function idTextOf(id: unknown): string | undefined {
  if (id === undefined || id === null || id === "") return undefined;
  const literal = literalOf(id);
  if (literal !== undefined) return /\d/.test(literal) ? literal : undefined;
  return typeof id === "object" ? jsonOf(id) : String(id);
}

/** Makes an id of what the file knows, for what has none of its own. */
export function madeId(parts: readonly unknown[]): string {
  // JSON that is nested too deep cannot be written. That memory is refused later, for its metadata, and the others are
  // imported.
  const json = jsonOf(parts) ?? JSON.stringify(parts.filter((part) => typeof part === "string"));
  return createHash("sha256").update(json).digest("hex").slice(0, 32);
}

/** A memory as a file describes it. */
interface Found extends Omit<Imported, "text" | "metadata"> {
  readonly text: string | undefined;
  readonly metadata?: unknown;
}

interface Described extends Omit<Found, "sourceId"> {
  readonly program: string;
  /** Its id there; when it has none, one is made of its content and its location. */
  readonly id: unknown;
  /** Why it cannot be stored as it is. */
  readonly problem?: string | false | undefined;
  /** More about its origin; members that are missing or null are left out. */
  readonly facts?: Readonly<Record<string, Json | undefined>>;
}

/** Makes memories of the objects of a list, and skips what is none. */
export function* importEach(
  list: Iterable<Located>,
  { program, kind }: { readonly program: string; readonly kind: string },
  describe: (object: JsonObject) => Omit<Described, "program" | "location">,
): Generator<Read> {
  for (const { value, location } of list) {
    const object = objectOf(value);
    if (object === undefined) yield skip(program, location, `it is not ${kind}`);
    else yield imported({ program, location, ...describe(object) });
  }
}

/** Makes a memory of a text, its own metadata and its origin. */
export function imported({ program, location, metadata, problem, facts = {}, ...more }: Described): Read {
  const { text } = more;
  const id = idTextOf(more.id) ?? madeId([location, text, metadata, facts]);
  const sourceId = `${program} ${id}`;
  if (problem) return refusal({ sourceId, location }, problem);
  const known = Object.entries(facts).filter(([, value]) => value !== undefined && value !== null);
  const own = objectOf(metadata ?? {});
  // A memory that had been imported before keeps where it came from then.
  const before = own?.[ORIGIN] === undefined ? {} : { [ORIGIN]: own[ORIGIN] };
  const origin = { program, id, ...Object.fromEntries(known), ...before };
  return checked({ ...more, sourceId, location, metadata: own ? { ...own, [ORIGIN]: origin } : metadata });
}

/** Makes a memory of what a file says, unless it has no text or would not come back as it is. */
export function checked({ sourceId, location, text, metadata, expireTime, eventTime }: Found): Read {
  const part = { sourceId, location };
  if (text === undefined) return skip(sourceId, location, "it has no text");
  const lost = lostIn(metadata);
  if (lost !== undefined)
    return refusal(
      part,
      `${formatPath(["metadata", ...lost.path])} is ${lost.literal.slice(0, 32)}, which would not come back`,
    );
  const own = objectOf(metadata ?? {});
  if (own === undefined) return refusal(part, "its metadata is not an object");
  return { ...part, text, metadata: own, expireTime, eventTime };
}

/** Refuses a memory that would not come back as it is. */
export function refusal(
  { sourceId, location }: Pick<Imported, "sourceId" | "location">,
  message: string,
): Problem {
  return { sourceId, location, result: "refused", message };
}

/** Members in which programs keep when something happened: the first that is a time counts. */
const NAMES = ["event_time", "created_at", "createdAt", "timestamp", "date", "time"];
/** Times of RFC 3339, also without a zone, which is UTC then, and days. */
const FORM = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?([Zz]|[+-]\d\d:?\d\d)?)?$/;
/** Numbers from which on they are seconds since 1970, and milliseconds; smaller ones are no times. */
const SECONDS_MIN = 1e8;
const MILLISECONDS_MIN = 1e11;

/** Reads a time as RFC 3339 of UTC: a text, or seconds or milliseconds since 1970. Undefined if it is none. */
export function timeOf(value: unknown): string | undefined {
  if (typeof value === "string") return timeOfText(value);
  if (typeof value !== "number" || value < SECONDS_MIN) return undefined;
  return inUtc(new Date(value < MILLISECONDS_MIN ? value * 1000 : value));
}

/** Reads when something expires, as `timeOf` does. A day alone counts to its end. */
export function expiryOf(value: unknown): string | undefined {
  return typeof value === "string" ? timeOfText(value, "23:59:59") : timeOf(value);
}

/** Finds the time among the members of an object, by the names that programs give it. */
export function timeIn(members: object): { eventTime?: string } {
  const values = members as Readonly<Record<string, unknown>>;
  for (const name of NAMES) {
    const eventTime = Object.hasOwn(values, name) ? timeOf(values[name]) : undefined;
    if (eventTime !== undefined) return { eventTime };
  }
  return {};
}

/** Reads a time, or with this one a day, as RFC 3339 of UTC. Undefined if it is none. */
function timeOfText(text: string, timeOfDay = "00:00"): string | undefined {
  const [, day, time = timeOfDay, zone = "Z"] = FORM.exec(text) ?? [];
  // A day that the month does not have would become one of the next month.
  if (day === undefined || !inUtc(new Date(`${day}T00:00:00Z`))?.startsWith(day)) return undefined;
  return inUtc(new Date(`${day}T${time}${zone.toUpperCase()}`));
}

/** Writes a time as RFC 3339 of UTC; undefined if that has no form for it. */
function inUtc(time: Date): string | undefined {
  if (Number.isNaN(time.getTime())) return undefined;
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9999 ? time.toISOString() : undefined;
}
