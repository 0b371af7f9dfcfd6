import type { Entry, Lost } from "../memory/log.js";

/** What each kind of entry consists of. */
const FIELDS: Record<Exclude<Entry["op"], "lost">, Record<string, "string" | "number" | "vectors">> = {
  store: {
    opId: "string",
    id: "string",
    text: "string",
    metadata: "string",
    vectors: "vectors",
    tokens: "number",
    createdAtMs: "number",
  },
  erased: { opId: "string", id: "string", tokens: "number", createdAtMs: "number" },
  delete: { opId: "string", target: "number" },
  drop: { opId: "string" },
};

/** What an entry that is no memory must not hold. */
const CONTENT = ["text", "metadata", "vectors"];

/** What was read, if it has the form of an entry; else what stands for a damaged one. */
export function intact(read: Readonly<Record<string, unknown>>): Entry {
  const fields = FIELDS[read.op as keyof typeof FIELDS];
  if (fields === undefined) return lost("it is of no known kind");
  const left = Object.keys(read).filter((name) => CONTENT.includes(name) && !(name in fields));
  if (left.length > 0) return lost(`it still holds the ${left.join(", ")} it should not have`);
  for (const [name, type] of Object.entries(fields)) {
    if (typeOf(read[name]) !== type) return lost(`its ${name} is damaged`);
  }
  return read as unknown as Entry;
}

export function lost(reason: string): Lost {
  return { op: "lost", opId: "", reason };
}

function typeOf(value: unknown): string {
  return value instanceof Float32Array ? "vectors" : typeof value;
}
