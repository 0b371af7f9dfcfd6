import type { Condition, Filter } from "../../ports/condition.js";
import { type Embedding, QUERY_WINDOWS_MAX, type Window } from "../../ports/embedder.js";
import type { Stored } from "../../ports/log.js";
import { type ModelVersion, modelVersionOf } from "../../ports/model-version.js";
import type { Names, Scope } from "../../ports/names.js";
import { vectorsOf } from "../../ports/windows.js";
import { noSuchMemory } from "../../versions/current-version.js";
import { type FindPorts, findMemories } from "../../versions/fetch.js";

/** A stored memory in place of a query. */
export interface Like {
  readonly text: string;
  /** Its stored vectors, of the model of its log. It has no tokens, because none are read. */
  readonly embedding: Embedding;
  readonly modelVersion: ModelVersion;
}

/**
 * Finds a memory that others are compared with, also a superseded one.
 *
 * @throws MemoryError `not_found` if the namespace has none with this id.
 */
export async function findLike(
  ports: FindPorts & { readonly names: Names },
  scope: Scope,
  id: string,
): Promise<Like> {
  const logId = await ports.names.find(scope);
  const found = logId && (await findMemories(ports, { logId, ids: [id], what: "all" })).get(id);
  if (!found) throw noSuchMemory();
  const modelVersion = modelVersionOf(logId);
  return { text: found.text, embedding: { ...asQuery(found), tokens: 0 }, modelVersion };
}

/** Narrows a filter to all memories but one. */
export function without(filter: Filter | undefined, id: string): Filter {
  const other: Condition = {
    kind: "not",
    operand: { kind: "test", field: "$id", test: { op: "in", values: new Set([id]) } },
  };
  const operands = filter === undefined ? [other] : [other, filter.condition];
  return { condition: { kind: "all", operands }, key: JSON.stringify([id, filter?.key]) };
}

/** Takes a memory's vectors as a query's: of a long text, windows at equal distances, as many as a query may have. */
function asQuery(memory: Pick<Stored, "vectors" | "windows">): Pick<Embedding, "vectors" | "windows"> {
  const { vectors, windows } = memory;
  if (windows === undefined || windows.length <= QUERY_WINDOWS_MAX)
    return { vectors, ...(windows && { windows }) };
  const all = vectorsOf(memory);
  const places = Array.from({ length: QUERY_WINDOWS_MAX }, (_, i) =>
    Math.floor((i * all.length) / QUERY_WINDOWS_MAX),
  );
  const dimensions = vectors.length / all.length;
  const some = new Float32Array(QUERY_WINDOWS_MAX * dimensions);
  for (const [i, place] of places.entries()) some.set(all[place] as Float32Array, i * dimensions);
  return { vectors: some, windows: places.map((place) => windows[place] as Window) };
}
