import { createHash } from "node:crypto";
import { invalid, MemoryError } from "../../src/errors.js";
import type { JsonObject } from "../../src/memory/requests/metadata.js";
import { parseExternalId } from "../../src/memory/requests/namespace.js";

/** A memory of another program, or of an export, as it will be stored. */
export interface Imported {
  /** Id in its source; memories with the same one are stored once. */
  readonly sourceId: string;
  /** Where it is in the file: `line 7`, or a path such as `$[3].mapping.abc`. */
  readonly location: string;
  readonly text: string;
  readonly metadata: JsonObject;
  /** The namespace that it goes into, if the file and not the caller says so. */
  readonly namespace?: string;
  /** The external id that it had in a namespace of recalld. */
  readonly externalId?: string;
  readonly expireTime?: string | undefined;
  /** When it happened, or was said, as its source knows it: RFC 3339, of UTC. */
  readonly eventTime?: string | undefined;
}

/** A part of a file that is no memory, or cannot be stored as it is, and why. */
export interface Problem extends Pick<Imported, "sourceId" | "location"> {
  readonly result: "skipped" | "refused";
  readonly message: string;
}

export type Read = Imported | Problem;

/** A line, counted from 1; `problem` says why it has no text. */
export type Line = { readonly number: number } & ({ readonly text: string } | { readonly problem: string });

/** A file of memories, which can be read more than once. */
export interface Source {
  lines(): AsyncIterable<Line>;
  /** Reads it as one JSON value, which is kept. @throws MemoryError if it is too large, or no JSON */
  json(): Promise<unknown>;
}

/**
 * Reads the memories of one kind of file, in its order.
 *
 * @throws OtherFormatError if the file is of another kind, MemoryError `failed_precondition` if it is not complete or too
 * large, or `invalid_argument` if it holds no text.
 */
export type Reader = (source: Source) => AsyncGenerator<Read>;

/** Error of a reader that got a file of another kind. */
export class OtherFormatError extends MemoryError {
  override readonly name = "OtherFormatError";

  constructor(message: string, cause?: unknown) {
    super("failed_precondition", message, { cause });
  }
}

/** Notes what a file's memories say. Of two with one id but another content, the second would be lost. */
export class Contents {
  /** Digests by namespace and external id. */
  readonly #digests = new Map<string, string>();

  /**
   * Returns whether an earlier memory with this external id says the same.
   *
   * @throws MemoryError `invalid_argument` if it says something else.
   */
  note({ namespace, text, metadata }: Imported, externalId: string): boolean {
    const key = JSON.stringify([namespace, externalId]);
    const content = JSON.stringify(metadata) + text;
    const digest = createHash("sha256").update(content).digest("hex").slice(0, 24);
    const before = this.#digests.get(key);
    this.#digests.set(key, before ?? digest);
    if (before !== undefined && before !== digest) {
      throw invalid("id", "comes before in the file, with another content");
    }
    return before !== undefined;
  }
}

/** Makes a memory's external id: its own, or its id in the source, or what stands for one that cannot be one. */
export function externalIdOf({ sourceId, externalId = sourceId }: Imported): string {
  try {
    return parseExternalId(externalId) ?? sourceId;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    // Lone surrogates are written out, as all of them have the same bytes.
    const text = externalId.isWellFormed() ? externalId : JSON.stringify(externalId);
    return `import-${createHash("sha256").update(text).digest("hex")}`;
  }
}
