import type { Recalld } from "../client.js";
import { RecalldError } from "../errors.js";
import { isWithin, MemoryToolError, noSuchPath } from "./paths.js";

/** Most files that a namespace may hold: all are read to find one by its path, which costs nothing. */
const FILES_MAX = 1_000;
const PAGE_SIZE = 100;
/** Tries of a change that others got ahead of. */
const TRIES = 5;
/** Ids that one call deletes. */
const BATCH = 256;

export interface MemoryFile {
  readonly path: string;
  readonly text: string;
  readonly id: string;
  readonly etag: string;
}

/**
 * Files as memories of a namespace: the path is the external id, so there is one of each, also when several
 * agents write. The memory's text begins with the path, so that a file can be empty, which a text cannot,
 * and is also found by its name.
 */
export class MemoryFiles {
  readonly #recalld: Recalld;
  readonly #namespace: string;

  constructor(recalld: Recalld, namespace: string) {
    this.#recalld = recalld;
    this.#namespace = namespace;
  }

  /** Reads all files, in the order of their paths. */
  async list(): Promise<MemoryFile[]> {
    const files: MemoryFile[] = [];
    const listed = this.#recalld.memories({ namespace: this.#namespace, pageSize: PAGE_SIZE });
    for await (const { id, etag, text, externalId: path = "" } of listed) {
      // Other memories of the namespace are no files.
      if (!text.startsWith(`${path}\n`) || path === "") continue;
      files.push({ path, text: text.slice(path.length + 1), id, etag });
      if (files.length > FILES_MAX) throw new MemoryToolError(`There are more than ${FILES_MAX} files`);
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Reads one file. */
  async read(path: string): Promise<MemoryFile> {
    const files = await this.list();
    const file = files.find((each) => each.path === path);
    if (file !== undefined) return file;
    const isDirectory = files.some((each) => isWithin(each.path, path));
    throw isDirectory ? new MemoryToolError(`The path ${path} is not a file.`) : noSuchPath(path);
  }

  /** Makes a file. Of two agents that make the same one, the second is told that it exists. */
  async create(path: string, text: string): Promise<void> {
    try {
      await this.#recalld.store({ namespace: this.#namespace, externalId: path, text: `${path}\n${text}` });
    } catch (error) {
      if (!(error instanceof RecalldError)) throw error;
      if (error.reason === "EXTERNAL_ID_TAKEN") throw new MemoryToolError(`File ${path} already exists`);
      throw forModel(error, path);
    }
  }

  /** Changes a file's text, again if another agent changed it in the meantime. */
  async change(path: string, edit: (text: string) => string): Promise<string> {
    for (let tries = 1; ; tries++) {
      const { id, etag, text } = await this.read(path);
      const edited = edit(text);
      try {
        await this.#recalld.update({ namespace: this.#namespace, id, etag, text: `${path}\n${edited}` });
        return edited;
      } catch (error) {
        if (!(error instanceof RecalldError)) throw error;
        const wasOvertaken = error.code === "aborted" || error.code === "not_found";
        if (!wasOvertaken || tries === TRIES) throw forModel(error, path);
      }
    }
  }

  async remove(files: readonly MemoryFile[]): Promise<void> {
    const ids = files.map(({ id }) => id);
    while (ids.length > 0) {
      const batch = ids.slice(0, BATCH);
      const { more } = await this.#recalld.deleteMemories({ namespace: this.#namespace, ids: batch });
      // Ids that are gone are passed over, so the same ones may be sent again.
      if (!more) ids.splice(0, BATCH);
    }
  }
}

/** Words a refusal of the text for the model; everything else is the program's to handle. */
function forModel(error: RecalldError, path: string): Error {
  if (error.code !== "invalid_argument" || error.field !== "text") return error;
  return new MemoryToolError(`File ${path} cannot be written: ${error.message}`);
}
