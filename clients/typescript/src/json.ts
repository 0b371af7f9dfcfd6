import { LONG_FIELDS } from "./contract.js";
import { type ErrorFacts, notOurs, RecalldError } from "./errors.js";
import { checkWritable } from "./values.js";

/** Reads a JSON object that only a recalld server writes. @throws RecalldError `unknown` if it is none */
export function parsed(text: string, facts: Pick<ErrorFacts, "requestId" | "status">): object {
  let value: unknown;
  let cause: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    cause = error;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  // Such as a proxy's page for signing in: asking again would not help.
  throw new RecalldError("unknown", "the answer is not JSON, so it is not recalld's", { ...facts, cause });
}

/**
 * Turns an answer's snake_case into camelCase. What callers stored as metadata stays as it is.
 *
 * @throws RecalldError `unknown` if it has what no recalld server writes.
 */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.includes(null)) throw notOurs("a list has null");
    return value.map(fromWire);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = camelCase(name);
      return [field, field === "metadata" ? inner : numeric(field, fromWire(inner))];
    }),
  );
}

/**
 * Turns a request into its JSON. The server takes camelCase; dates become strings by themselves, and field
 * masks may be lists.
 *
 * @throws RecalldError `invalid_argument` if it holds a value that JSON would change or leave out.
 */
export function toWire(request: object): string {
  checkRequest(request);
  const masks = Object.entries(request).filter(([, value]) => Array.isArray(value));
  const joined = masks
    .filter(([name]) => name === "fields" || name === "updateMask")
    .map(([name, paths]) => [name, paths.join(",")]);
  return JSON.stringify({ ...request, ...Object.fromEntries(joined) });
}

/** Checks that a request is an object that JSON can write as it is. */
export function checkRequest(request: unknown): void {
  if (typeof request !== "object" || request === null || Array.isArray(request))
    throw new RecalldError("invalid_argument", "the request must be an object");
  checkWritable(request);
}

/** Writes a path of fields as callers write it: `memories[3].external_id` is `memories[3].externalId`. */
export function fieldPath(path: string): string {
  // Keys of metadata and of filters are the caller's own.
  const [ours = ""] = path.split(/\b(?:metadata|filter)\b/, 1);
  return camelCase(ours) + path.slice(ours.length);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** JSON has 64-bit numbers as strings; none of these is ever beyond what a number counts exactly. */
function numeric(field: string, value: unknown): unknown {
  return typeof value === "string" && LONG_FIELDS.includes(field) ? Number(value) : value;
}
