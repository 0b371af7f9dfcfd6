import { mapSome } from "../../../concurrency/map-some.js";
import { byteLengthOf } from "../../ports/bounds.js";
import type { Projected } from "../../ports/log.js";
import { METADATA_BYTES_MAX } from "../../requests/metadata.js";
import { TOP_K_MAX } from "../../requests/recall-options.js";
import { TEXT_BYTES_MAX } from "../../requests/text.js";
import type { FindPorts, Shown } from "../../versions/fetch.js";
import type { Found } from "./found.js";
import { findNeighbors, type Neighbors, ValuesAt } from "./neighbors.js";

/** Bytes of the texts and metadata of an answer. So many plain results fit, however long they are. */
export const RECALL_BYTES_MAX = TOP_K_MAX * (TEXT_BYTES_MAX + METADATA_BYTES_MAX);

/** Results whose neighbors are looked for at a time. */
const RESULTS_AT_ONCE = 4;

export interface Filling {
  /** Tokens that the texts may have together; any number if undefined. */
  readonly maxTokens: number | undefined;
  /** Neighbors that are wanted with each result. */
  readonly neighbors?: Neighbors | undefined;
  /** Logs of the namespaces; results that name no namespace are of the first. */
  readonly logs: readonly { readonly namespace: string; readonly logId: string }[];
  readonly includeSuperseded: boolean;
  readonly signal: AbortSignal;
}

/**
 * Fills an answer with results, best first, each followed by its neighbors, the nearest first. It ends before the
 * first text that it has no budget for.
 */
export async function fill(
  ports: FindPorts,
  results: readonly Found[],
  { maxTokens = Number.POSITIVE_INFINITY, neighbors, logs, includeSuperseded, signal }: Filling,
): Promise<{ results: readonly Found[]; shortened?: true }> {
  let [tokens, bytes] = [0, 0];
  /** True once a memory did not fit: the answer ends before it, even if a later one is shorter. */
  let isFull = false as boolean;
  /** Takes a memory in; true if it fits. The first one always does. */
  const take = (memory: Projected["text"]) => {
    if (isFull) return false;
    const isFirst = bytes === 0;
    tokens += memory.tokens;
    bytes += byteLengthOf(memory);
    isFull = !isFirst && (tokens > maxTokens || bytes > RECALL_BYTES_MAX);
    return !isFull;
  };
  const logOf = ({ namespace }: Found) =>
    logs.find((log) => namespace === undefined || log.namespace === namespace)?.logId as string;
  const filled: Found[] = [];
  const values = new ValuesAt(neighbors?.same);
  const atOnce = neighbors === undefined ? results.length : RESULTS_AT_ONCE;
  for (let at = 0; at < results.length && !isFull; at += atOnce) {
    signal.throwIfAborted();
    const some = results.slice(at, at + atOnce);
    const beside =
      neighbors &&
      (await mapSome(some, RESULTS_AT_ONCE, (found) =>
        findNeighbors({ ...ports, logId: logOf(found), includeSuperseded, values }, found, neighbors),
      ));
    for (const [i, found] of some.entries()) {
      if (!take(found.entry)) break;
      const { before = [], after = [] } = beside?.[i] ?? {};
      const kept = new Set(nearestFirst(before, after).filter((each) => take(each)));
      filled.push({
        ...found,
        ...(neighbors && neighbors.before > 0 && { before: before.filter((each) => kept.has(each)) }),
        ...(neighbors && neighbors.after > 0 && { after: after.filter((each) => kept.has(each)) }),
      });
    }
  }
  return { results: filled, ...(isFull && { shortened: true }) };
}

function nearestFirst(before: readonly Shown[], after: readonly Shown[]): Shown[] {
  const length = Math.max(before.length, after.length);
  const pairs = Array.from({ length }, (_, i) => [before.at(-1 - i), after[i]]);
  return pairs.flat().filter((each) => each !== undefined);
}
