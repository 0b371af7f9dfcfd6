import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invalid, MemoryError } from "../errors.js";
import { linesIn } from "../lines.js";
import type { Remote } from "./remote.js";

/** Size of the items that are sent at a time; a message may have a mebibyte. */
const SENT_BYTES_MAX = 262_144;
/** Length of a line, which is one entity with all that was observed of it. */
const LINE_BYTES_MAX = 786_432;

export interface ImportOptions {
  readonly remote: Pick<Remote, "ask">;
  /** The `memory.jsonl` that `@modelcontextprotocol/server-memory` has kept. */
  readonly path: string;
  /** Folder in which it is noted that a file was imported. */
  readonly notesDir: string;
  /** Place that the graph goes to, which the note is about, too: the same file may go to several. */
  readonly place: string;
  readonly signal: AbortSignal;
}

interface Item extends Record<string, unknown> {
  readonly type: "entity" | "relation";
}

/**
 * Imports a knowledge graph once: what is deleted later does not come back with the next start. An import that
 * broke off is begun anew, and stores nothing twice.
 *
 * @throws MemoryError that names the line, or says why the server did not take it.
 */
export async function importOnce({ notesDir, place, ...options }: ImportOptions): Promise<number> {
  const { path } = options;
  const name = createHash("sha256")
    .update(JSON.stringify([place, path]))
    .digest("hex");
  const note = join(notesDir, name);
  // The other program makes the file when it first stores something.
  if ((await exists(note)) || !(await exists(path))) return 0;
  const count = await importAll(options);
  await mkdir(notesDir, { recursive: true, mode: 0o700 });
  await writeFile(note, `${path}\n`, { mode: 0o600 });
  return count;
}

async function importAll({
  remote,
  path,
  signal,
}: Omit<ImportOptions, "notesDir" | "place">): Promise<number> {
  const waiting = { entity: [] as Item[], relation: [] as Item[] };
  let [bytes, count] = [0, 0];
  const send = async () => {
    await call({ remote, signal }, "create_entities", { entities: waiting.entity.splice(0) });
    await call({ remote, signal }, "create_relations", { relations: waiting.relation.splice(0) });
    bytes = 0;
  };
  let number = 0;
  for await (const { bytes: line, length: size } of linesIn(createReadStream(path), LINE_BYTES_MAX)) {
    const where = `line ${++number} of ${path}`;
    if (size > LINE_BYTES_MAX) throw invalid(where, `is longer than ${LINE_BYTES_MAX} bytes`);
    const text = textOf(line, where);
    if (text.trim() === "") continue;
    if (bytes + size > SENT_BYTES_MAX) await send();
    const item = itemIn(text, where);
    waiting[item.type].push(item);
    bytes += size;
    count++;
  }
  await send();
  return count;
}

/** Decodes strictly, but for a byte order mark: a name with a broken byte would become another's. */
function textOf(line: Buffer, where: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(line);
  } catch {
    throw invalid(where, "is not UTF-8");
  }
}

function itemIn(line: string, where: string): Item {
  const item = parsed(line);
  if (item?.type === "entity" || item?.type === "relation") return item;
  throw invalid(where, "is neither an entity nor a relation of a knowledge graph");
}

function parsed(line: string): Item | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function call(
  { remote, signal }: Pick<ImportOptions, "remote" | "signal">,
  name: string,
  args: Record<string, Item[]>,
): Promise<void> {
  if (Object.values(args).every((items) => items.length === 0)) return;
  const { result, message } = await remote.ask("tools/call", { name, arguments: args }, signal);
  if (result === undefined) throw new MemoryError("unavailable", message);
  if (result.isError !== true) return;
  const [said] = result.content as { text: string }[];
  throw new MemoryError("failed_precondition", said?.text ?? "the server did not take it");
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
