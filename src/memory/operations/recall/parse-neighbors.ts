import { invalid, parseWhole } from "../../../errors.js";
import { FILTER_PATH_BYTES_MAX } from "../../filter/parse.js";
import { keysOf } from "../../filter/path.js";
import { METADATA_DEPTH_MAX } from "../../requests/metadata.js";

/** Maximum number of neighbors on each side of a result. */
export const NEIGHBORS_MAX = 5;

/** Neighbors that a recall wants with each result; 0 and empty are none. */
export interface NeighborsFields {
  readonly before: number;
  readonly after: number;
  readonly same: string;
}

export interface Neighbors {
  readonly before: number;
  readonly after: number;
  /** Keys that lead to the place in the metadata that must be the same; undefined if any memory will do. */
  readonly same: readonly string[] | undefined;
}

/** Parses which neighbors of results are wanted; undefined if none are. */
export function parseNeighbors(given: NeighborsFields | undefined): Neighbors | undefined {
  if (given === undefined) return undefined;
  const limits = [0, NEIGHBORS_MAX] as const;
  const before = parseWhole("neighbors.before", given.before, limits);
  const after = parseWhole("neighbors.after", given.after, limits);
  if (before + after === 0) throw invalid("neighbors", "asks for none; before or after must be 1 or more");
  return { before, after, same: given.same === "" ? undefined : parsePath(given.same) };
}

function parsePath(path: string): readonly string[] {
  const field = "neighbors.same";
  if (Buffer.byteLength(path) > FILTER_PATH_BYTES_MAX) {
    throw invalid(field, `is a path of more than ${FILTER_PATH_BYTES_MAX} bytes`);
  }
  if (!path.isWellFormed()) throw invalid(field, "is not well-formed Unicode (a lone surrogate)");
  // In filters such a name is of the memory itself: its id, or when it was stored.
  if (path.startsWith("$")) {
    throw invalid(field, "is no path of metadata; write a backslash before the dollar sign of a key");
  }
  const keys = keysOf(path);
  if (keys === undefined) throw invalid(field, "has a backslash before a character that needs none");
  if (keys.length > METADATA_DEPTH_MAX) {
    throw invalid(field, `is a path of more than ${METADATA_DEPTH_MAX} keys`);
  }
  return keys;
}
