import type { JsonObject } from "../memory/input/metadata.js";

/** A memory of another program, or of an export, as it will be stored. */
export interface Imported {
  /** Id in its source; memories with the same one are stored once. */
  readonly sourceId: string;
  readonly text: string;
  readonly metadata: JsonObject;
  /** The external id that it had in a namespace of recalld. */
  readonly externalId?: string;
  /** Time when it expires, in RFC 3339. */
  readonly expireTime?: string;
}

/** A part of a file that holds no text, and why. */
export interface Skipped {
  readonly sourceId: string;
  readonly skipped: string;
}

/** A file of memories, which can be read more than once. */
export interface Source {
  /** Reads it line by line. @throws Error if a line is too long */
  lines(): AsyncIterable<string>;
  /** Reads it as one JSON value. @throws Error if it is too large, or no JSON */
  json(): Promise<unknown>;
}

/**
 * Reads the memories of one kind of file, in its order.
 *
 * @throws NotThatFormat if the file is of another kind.
 */
export type Reader = (source: Source) => AsyncIterable<Imported | Skipped>;

/** Error of a reader that got a file of another kind, or one that is not complete. */
export class NotThatFormat extends Error {}
