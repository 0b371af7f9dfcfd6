import { MemoryError } from "../../errors.js";
import { findSecrets, type SecretSpan } from "./find-secrets.js";
import { isObject, type Json, type JsonObject } from "./metadata.js";

/** Action if a text or its metadata has what looks like a secret. */
export type OnSecret = "store" | "redact" | "refuse";

/** Stands in place of a secret. No kind of secret is shorter, so that nothing grows beyond its limit. */
export const REDACTED = "[REDACTED]";
/** Number of secrets that are named. Errors travel in the headers of gRPC, which take few kilobytes. */
const LISTED_MAX = 8;
const PATH_CHARS_MAX = 100;

/** Kind and location of a secret, as the contract has them. */
interface FoundSecret {
  readonly kind: string;
  readonly field: string;
  readonly start: number;
  readonly end: number;
}

/** What was redacted in a request: the first secrets, and the number of all. */
export interface Redacted {
  readonly secrets: readonly FoundSecret[];
  readonly count: number;
}

interface Contents {
  readonly text?: string | undefined;
  /** At most `METADATA_DEPTH_MAX` levels deep. */
  readonly metadata?: JsonObject | undefined;
}

/**
 * Looks for secrets in a text and in the metadata's strings, and redacts them, unless they may be stored.
 *
 * @throws MemoryError `invalid_argument` (SECRET_FOUND) if there is one to refuse, or one in a key of the
 * metadata: without its name a value could not be found again. The error names kinds and locations only.
 */
export function handleSecrets<C extends Contents>(
  given: C,
  how: OnSecret,
): Pick<C, "text" | "metadata"> & { readonly redacted: Redacted | undefined } {
  const { text, metadata } = given;
  if (how === "store") return { text, metadata, redacted: undefined };
  const texts: ScannedText[] = [];
  const withoutSecrets = {
    text: text === undefined ? undefined : add(texts, text, ["text"]),
    metadata: metadata === undefined ? undefined : add(texts, metadata, ["metadata"]),
  };
  const found = search(texts);
  if (found.length === 0) return { text, metadata, redacted: undefined };
  const count = found.reduce((sum, { spans }) => sum + spans.length, 0);
  const redacted = { secrets: listed(found), count };
  const keys = found.filter(({ isKey }) => isKey);
  if (how === "refuse") throw refused(redacted, { isKey: false });
  if (keys.length > 0) throw refused({ ...redacted, secrets: listed(keys) }, { isKey: true });
  return {
    text: withoutSecrets.text?.() as C["text"],
    metadata: withoutSecrets.metadata?.() as C["metadata"],
    redacted,
  };
}

/** A string of a request. */
interface ScannedText {
  readonly text: string;
  /** The way to it: `text` or `metadata`, keys as strings of their own, and indexes of arrays. */
  readonly path: readonly (string | number | ScannedText)[];
  readonly isKey: boolean;
  /** Its secrets; offsets are UTF-16 units of the string. */
  spans: readonly SecretSpan[];
}

/** Stands between strings that are searched together. No secret has it. */
const SEPARATOR = "\0";

/**
 * Adds a string, or all strings of a value, in their order. Returns what makes the value again without the secrets that
 * are found in them.
 */
function add(texts: ScannedText[], value: Json, path: ScannedText["path"]): () => Json {
  if (typeof value === "string") {
    const scanned = addText(texts, value, path);
    return () => redacted(scanned);
  }
  if (Array.isArray(value)) {
    const items = value.map((each, i) => add(texts, each, [...path, i]));
    return () => items.map((item) => item());
  }
  if (!isObject(value)) return () => value;
  const entries = Object.entries(value).map(([key, each]) => {
    const scanned = addText(texts, key, path, { isKey: true });
    return [key, add(texts, each, [...path, scanned])] as const;
  });
  // Entries that are defined, not assigned: a key may be __proto__.
  return () => Object.fromEntries(entries.map(([key, inner]) => [key, inner()]));
}

function addText(
  texts: ScannedText[],
  text: string,
  path: ScannedText["path"],
  { isKey = false } = {},
): ScannedText {
  const scanned: ScannedText = { text, path, isKey, spans: [] };
  texts.push(scanned);
  return scanned;
}

/**
 * Finds the secrets of all strings, and returns those that have some. They are searched together: a search for each of
 * hundreds would take much longer.
 */
function search(texts: readonly ScannedText[]): ScannedText[] {
  const spans = findSecrets(texts.map(({ text }) => text).join(SEPARATOR));
  let [at, next] = [0, 0];
  for (const scanned of texts) {
    const from = next;
    const end = at + scanned.text.length;
    for (let span = spans[next]; span !== undefined && span.start < end; span = spans[next]) next++;
    scanned.spans = spans
      .slice(from, next)
      .map(({ kind, start, end: last }) => ({ kind, start: start - at, end: last - at }));
    at = end + SEPARATOR.length;
  }
  return texts.filter(({ spans }) => spans.length > 0);
}

/** Names the first secrets of some strings. */
function listed(texts: readonly ScannedText[]): FoundSecret[] {
  const secrets: FoundSecret[] = [];
  for (const scanned of texts) {
    const { text, spans } = scanned;
    if (secrets.length === LISTED_MAX) break;
    const field = pathOf(scanned);
    let [unit, point] = [0, 0];
    const pointAt = (to: number) => {
      point += [...text.slice(unit, to)].length;
      unit = to;
      return point;
    };
    for (const { kind, start, end } of spans.slice(0, LISTED_MAX - secrets.length)) {
      secrets.push({ kind, field, start: pointAt(start), end: pointAt(end) });
    }
  }
  return secrets;
}

/** Writes the path of a string as filters do, without secrets in its keys, and cut. */
function pathOf(scanned: ScannedText): string {
  const parts = scanned.isKey ? [...scanned.path, scanned] : scanned.path;
  const whole = parts
    .map((part) => {
      if (typeof part === "string") return part;
      return typeof part === "number" ? `[${part}]` : `.${redacted(part).replace(/[\\.$]/g, "\\$&")}`;
    })
    .join("");
  return whole.length <= PATH_CHARS_MAX ? whole : `${whole.slice(0, PATH_CHARS_MAX).toWellFormed()}…`;
}

function redacted({ text, spans }: Pick<ScannedText, "text" | "spans">): string {
  let at = 0;
  const parts = spans.map(({ start, end }) => {
    const before = text.slice(at, start);
    at = end;
    return before + REDACTED;
  });
  return parts.join("") + text.slice(at);
}

function refused({ secrets, count }: Redacted, { isKey }: { isKey: boolean }): MemoryError {
  const [{ field: path, kind, start }] = secrets as [FoundSecret];
  const field = path.startsWith("metadata") ? "metadata" : "text";
  const others = count > 1 ? `, and ${count - 1} more` : "";
  const what = isKey
    ? "has a key that looks like a secret, which cannot be redacted"
    : "has what looks like a secret";
  const fix = isKey
    ? "leave it out, or set on_secret to STORE"
    : "leave it out, or set on_secret to REDACT or STORE";
  const location = field === "text" ? `at ${start}` : `in ${path} at ${start}`;
  return new MemoryError("invalid_argument", `${field} ${what}: ${kind} ${location}${others}; ${fix}`, {
    field,
    reason: "SECRET_FOUND",
    recorded: `${field} ${what}: ${kind}${others}`,
    metadata: { secrets: JSON.stringify(secrets), count: String(count) },
  });
}
