import { crc32 } from "node:zlib";
import { type Entry, hasText, hasVectors, type Lost, type Projection } from "../memory/ports/log.js";
import { toBytes } from "./vector.js";

/**
 * CRC-32 of an entry's parts, written with it, to notice damage that leaves the form whole. Each part
 * that can be read alone has one.
 */
export interface Sums {
  readonly head: number;
  /** Checksum of the part of the head that is erased with a memory; absent if it has none. */
  readonly label?: number;
  /**
   * Checksum of the event time; absent without one. It is none of the label's, because programs from before there
   * were event times check that.
   */
  readonly event?: number;
  readonly text?: number;
  readonly vectors?: number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Kinds of fields. `windows` may be missing: the one vector is then of the whole text. Those with a question
 * mark may be missing, too.
 */
type Kind = "string" | "number" | "vectors" | "windows" | "string?" | "number?" | "numbers?";

/** Fields of a memory that stay when it is erased. */
const REMAINDER = {
  opId: "string",
  id: "string",
  tokens: "number",
  createdAtMs: "number",
  updatedAtMs: "number?",
  replaces: "number?",
  supersedes: "numbers?",
} as const;

const FIELDS: Record<Exclude<Entry["op"], "lost">, Record<string, Kind>> = {
  store: {
    ...REMAINDER,
    text: "string",
    metadata: "string",
    vectors: "vectors",
    windows: "windows",
    externalId: "string?",
    expiresAtMs: "number?",
    eventAtMs: "number?",
  },
  erased: REMAINDER,
  delete: { opId: "string", target: "number" },
  drop: { opId: "string" },
  moved: { opId: "string", to: "string" },
};

/** Fields that only a memory may have. */
const CONTENT = ["text", "metadata", "vectors", "windows", "externalId"];

const TEXT = ["text", "metadata"];
const VECTORS = ["vectors", "windows"];

/** What each kind of entry must have, and must not have, in the form in which it is looked at soonest. */
const FORMS = Object.fromEntries(
  Object.entries(FIELDS).map(([op, fields]) => [
    op,
    { fields: Object.entries(fields), forbidden: CONTENT.filter((name) => !(name in fields)) },
  ]),
);

/**
 * Returns the entry without its checksums if it has the right form and agrees with them; otherwise a
 * placeholder for a damaged one.
 */
export function intact<W extends Projection>(given: Readonly<Record<string, unknown>>, what: W): Entry<W> {
  const { sums, ...read } = given;
  const form = FORMS[read.op as string];
  if (form === undefined) return lost("it is of no known kind");
  const left = form.forbidden.filter((name) => name in read);
  if (left.length > 0) return lost(`it still holds the ${left.join(", ")} it should not have`);
  for (const [name, type] of form.fields) {
    if (wasRead(name, what) && !isOf(type, read[name])) return lost(`its ${name} is damaged`);
  }
  if (!agrees(read, what, sums)) return lost("its checksum does not match");
  return read as unknown as Entry<W>;
}

function wasRead(name: string, what: Projection): boolean {
  return (hasText(what) || !TEXT.includes(name)) && (hasVectors(what) || !VECTORS.includes(name));
}

export function lost(reason: string): Lost {
  return { op: "lost", opId: "", reason };
}

/**
 * Makes a placeholder without the error's words: a parser's words quote what it read, which is a
 * caller's text.
 */
export function unreadable(error: unknown): Lost {
  return lost(`it is unreadable (${error instanceof Error ? error.name : typeof error})`);
}

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === "vectors") return value instanceof Float32Array;
  if (kind === "windows") return value === undefined || areWindows(value);
  if (kind === "numbers?") return value === undefined || areNumbers(value);
  if (kind.endsWith("?")) return value === undefined || typeof value === kind.slice(0, -1);
  return typeof value === kind;
}

function areNumbers(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => Number.isInteger(each));
}

function areWindows(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((window) => Number.isInteger(window?.start) && window.end > window.start);
}

export function sumsOf(entry: Fields): Sums {
  if (entry.op !== "store") return { head: headOf(entry) };
  const [label, event] = [labelOf(entry), eventOf(entry)];
  const sums = { head: headOf(entry), text: textOf(entry), vectors: vectorsOf(entry) };
  return { ...sums, ...(label !== undefined && { label }), ...(event !== undefined && { event }) };
}

/** True if the parts that were read agree with the checksums. */
function agrees(entry: Fields, what: Projection, sums: unknown): boolean {
  const written = (sums ?? {}) as Partial<Sums>;
  if (written.head !== headOf(entry)) return false;
  if (entry.op !== "store") return true;
  if (written.label !== labelOf(entry) || written.event !== eventOf(entry)) return false;
  if (hasText(what) && written.text !== textOf(entry)) return false;
  return !hasVectors(what) || written.vectors === vectorsOf(entry);
}

/** Computes the checksum of an entry's head, which erasing a memory does not change. */
function headOf({ op, opId, id, tokens, createdAtMs, updatedAtMs, target, to, ...more }: Fields): number {
  const kind = op === "erased" ? "store" : op;
  const { replaces, supersedes } = more;
  const head = [kind, opId, id, tokens, createdAtMs, updatedAtMs, target, to, replaces, supersedes];
  return crc32(JSON.stringify(head));
}

function labelOf({ externalId, expiresAtMs }: Fields): number | undefined {
  if (externalId === undefined && expiresAtMs === undefined) return undefined;
  return crc32(JSON.stringify([externalId, expiresAtMs]));
}

function eventOf({ eventAtMs }: Fields): number | undefined {
  return eventAtMs === undefined ? undefined : crc32(String(eventAtMs));
}

function textOf({ text, metadata }: Fields): number {
  return crc32(`${text}\n${metadata}`);
}

function vectorsOf({ vectors, windows }: Fields): number {
  const before = windows === undefined ? 0 : crc32(JSON.stringify(windows));
  return crc32(toBytes(vectors as Float32Array), before);
}
