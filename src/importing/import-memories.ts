import { createHash } from "node:crypto";
import { MemoryError } from "../errors.js";
import { EXTERNAL_ID_BYTES_MAX } from "../memory/input/external-id.js";
import { parseMetadata } from "../memory/input/metadata.js";
import { parseText } from "../memory/input/text.js";
import type { Imported, Skipped } from "./imported.js";

/** Memories stored at a time. */
export const STORING_MAX = 8;
/** Maximum number of problems that a report names. */
const PROBLEMS_MAX = 100;

/** A memory to store, with the external id under which a namespace holds it once. */
export interface Storing extends Imported {
  readonly externalId: string;
}

/** Counts of an import so far. */
export interface Progress {
  /** Memories, and other parts of the file, that were read. */
  readonly read: number;
  /** Memories that were stored, or would be stored if it were no dry run. */
  readonly stored: number;
  /** Memories that an earlier attempt had stored. */
  readonly already: number;
  /** Parts without a text. */
  readonly skipped: number;
  /** Memories that cannot be stored; `problems` names the first of them. */
  readonly refused: number;
}

export interface Report extends Progress {
  readonly problems: readonly { readonly sourceId: string; readonly message: string }[];
}

export interface ImportOptions {
  /** The memories, from a reader. */
  readonly read: AsyncIterable<Imported | Skipped>;
  /**
   * Stores a memory, unless the namespace holds one with its external id; answers whether it does.
   *
   * @throws MemoryError `invalid_argument` for a memory that cannot be stored; any other
   * error ends the import.
   */
  readonly store: (storing: Storing) => Promise<{ already: boolean }>;
  /** True if nothing is stored, and everything only checked. */
  readonly dryRun: boolean;
  onProgress?(progress: Progress): void;
}

/**
 * Stores memories, a few at a time. When it ends early, another attempt stores the rest: each memory has an
 * external id made of its id in the source, so none is stored twice.
 */
export async function importMemories(options: ImportOptions): Promise<Report> {
  const run = new Run(options);
  const memories = options.read[Symbol.asyncIterator]();
  try {
    // All read from one iterator, each the next when it has stored its own.
    await Promise.all(Array.from({ length: STORING_MAX }, () => run.storeFrom(memories)));
  } finally {
    await memories.return?.();
  }
  return run.report;
}

/** Makes a memory's external id: its own, or its id in the source, or what stands for one that is too long. */
export function externalIdOf({ sourceId, externalId = sourceId }: Imported): string {
  if (Buffer.byteLength(externalId) <= EXTERNAL_ID_BYTES_MAX) return externalId;
  return `import-${createHash("sha256").update(externalId).digest("hex")}`;
}

class Run {
  readonly #counts = { read: 0, stored: 0, already: 0, skipped: 0, refused: 0 };
  readonly #problems: { sourceId: string; message: string }[] = [];
  #failed = false;

  constructor(private readonly options: ImportOptions) {}

  get report(): Report {
    return { ...this.#counts, problems: this.#problems };
  }

  async storeFrom(memories: AsyncIterator<Imported | Skipped>): Promise<void> {
    for (;;) {
      const { done, value } = await memories.next();
      if (done || this.#failed) return;
      this.#counts.read++;
      try {
        if ("skipped" in value) this.#counts.skipped++;
        else await this.#store(value);
      } catch (error) {
        this.#failed = true;
        throw error;
      }
      this.options.onProgress?.(this.#counts);
    }
  }

  async #store(memory: Imported): Promise<void> {
    try {
      // The same rules as the server's, so that a dry run finds what it would refuse.
      parseText("text", memory.text);
      parseMetadata(memory.metadata);
      const { already } = this.options.dryRun
        ? { already: false }
        : await this.options.store({ ...memory, externalId: externalIdOf(memory) });
      this.#counts[already ? "already" : "stored"]++;
    } catch (error) {
      if (!isOfTheMemory(error)) throw error;
      this.#counts.refused++;
      if (this.#problems.length < PROBLEMS_MAX) {
        this.#problems.push({ sourceId: memory.sourceId, message: error.message });
      }
    }
  }
}

/** Tells whether an error is about one memory: the others can be stored. */
function isOfTheMemory(error: unknown): error is MemoryError {
  return error instanceof MemoryError && error.code === "invalid_argument";
}
