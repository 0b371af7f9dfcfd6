import { type Entry, hasText, hasVectors, type Lost, type What } from "../memory/ports/log.js";
import { agrees } from "./checksum.js";

/** `windows` may be missing: the one vector is of the whole text then. */
type Kind = "string" | "number" | "vectors" | "windows";

/** What each kind of entry consists of. */
const FIELDS: Record<Exclude<Entry["op"], "lost">, Record<string, Kind>> = {
  store: {
    opId: "string",
    id: "string",
    text: "string",
    metadata: "string",
    vectors: "vectors",
    windows: "windows",
    tokens: "number",
    createdAtMs: "number",
  },
  erased: { opId: "string", id: "string", tokens: "number", createdAtMs: "number" },
  delete: { opId: "string", target: "number" },
  drop: { opId: "string" },
  moved: { opId: "string", to: "string" },
};

/** What an entry that is no memory must not hold. */
const CONTENT = ["text", "metadata", "vectors", "windows"];

const TEXT = ["text", "metadata"];
const VECTORS = ["vectors", "windows"];

/**
 * What was read, without its checksums, if it has the form of an entry and agrees with them; else what
 * stands for a damaged one.
 */
export function intact<W extends What>(given: Readonly<Record<string, unknown>>, what: W): Entry<W> {
  const { sums, ...read } = given;
  const fields = FIELDS[read.op as keyof typeof FIELDS];
  if (fields === undefined) return lost("it is of no known kind");
  const left = Object.keys(read).filter((name) => CONTENT.includes(name) && !(name in fields));
  if (left.length > 0) return lost(`it still holds the ${left.join(", ")} it should not have`);
  for (const [name, type] of Object.entries(fields)) {
    if (wasRead(name, what) && !isOf(type, read[name])) return lost(`its ${name} is damaged`);
  }
  if (sums !== undefined && !agrees(read, what, sums)) return lost("its checksum does not match");
  return read as unknown as Entry<W>;
}

function wasRead(name: string, what: What): boolean {
  return (hasText(what) || !TEXT.includes(name)) && (hasVectors(what) || !VECTORS.includes(name));
}

export function lost(reason: string): Lost {
  return { op: "lost", opId: "", reason };
}

/** Without the error's own words: those of a parser quote what it read, and that is a caller's text. */
export function unreadable(error: unknown): Lost {
  return lost(`it is unreadable (${error instanceof Error ? error.name : typeof error})`);
}

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === "vectors") return value instanceof Float32Array;
  if (kind === "windows") return value === undefined || areWindows(value);
  return typeof value === kind;
}

function areWindows(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((window) => Number.isInteger(window?.start) && window.end > window.start);
}
