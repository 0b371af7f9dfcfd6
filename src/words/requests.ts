import type { Mark, Restored } from "../memory/ports/vectors.js";
import type { TextRow, WeighedQuery, WordQuery } from "../memory/ports/words.js";
import type { FileOf } from "./snapshot/file.js";

/** Request to the thread that holds all large indexes, about one of them. */
export type Request =
  | { readonly op: "addBlock"; readonly bytes: Uint8Array }
  | { readonly op: "add"; readonly rows: readonly TextRow[] }
  | { readonly op: "remove"; readonly sequences: readonly number[] }
  | ({ readonly op: "search" } & WordQuery)
  | { readonly op: "score"; readonly query: WeighedQuery; readonly sequences: readonly number[] }
  | { readonly op: "sample" }
  | { readonly op: "snapshot"; readonly of: FileOf; readonly mark: Mark }
  | { readonly op: "restore"; readonly of: FileOf }
  | { readonly op: "close" };

/** A request with its number and its index. */
export interface Asked {
  readonly id: number;
  readonly index: number;
  readonly request: Request;
}

/** An answer, with the index's size after it. */
export interface Answered {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
  readonly size: number;
  readonly bytes: number;
}

export type RestoredFile = Restored | undefined;
