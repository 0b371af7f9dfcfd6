import { expectAtMost, invalid } from "../../../errors.js";
import type { Condition } from "../../ports/condition.js";
import { type Embedding, QUERY_WINDOWS_MAX, type Window } from "../../ports/embedder.js";
import type { Stored } from "../../ports/log.js";
import { modelVersionOf } from "../../ports/model-version.js";
import type { Scope } from "../../ports/names.js";
import { vectorsOf } from "../../ports/windows.js";
import { parseMemoryId } from "../../requests/id.js";
import { parseText } from "../../requests/text.js";
import { noSuchMemory } from "../../versions/current-version.js";
import { findMemories, readInNamespace } from "../../versions/fetch.js";
import type { Ports } from "../ports.js";

/** Maximum number of queries of one recall. */
export const QUERIES_MAX = 8;

/** Fields of which a recall has exactly one; an empty one is absent. */
export interface QuestionFields {
  readonly query?: string | undefined;
  readonly queries?: readonly string[] | undefined;
  readonly likeId?: string | undefined;
}

/**
 * Parses what a recall looks for: the meaning of texts, which came as a list or not, or what is like a stored memory.
 *
 * @throws MemoryError `invalid_argument` if none of the fields is given, or more than one.
 */
export function parseQuestion({ query = "", queries = [], likeId = "" }: QuestionFields) {
  if (query === "" && queries.length === 0 && likeId === "") {
    throw invalid("query", "is missing; a recall has one of query, queries and like_id");
  }
  if (queries.length > 0) {
    if (query !== "") throw invalid("queries", "is given beside query; a recall has one of them");
    if (likeId !== "") throw invalid("queries", "is given beside like_id; a recall has one of them");
    expectAtMost(QUERIES_MAX, "queries", queries, "queries");
    const texts = queries.map((text, i) => parseText(`queries[${i}]`, text));
    return { texts, isList: true, likeId: undefined };
  }
  if (likeId === "") return { texts: [parseText("query", query)], isList: false, likeId: undefined };
  if (query !== "") throw invalid("like_id", "is given beside query; a recall has one of them");
  return { texts: [], isList: false, likeId: parseMemoryId(likeId, "like_id") };
}

/**
 * Finds the memory, also a superseded one, that takes the place of a query: its text, and its stored vectors, which are of
 * the model of its log. They count no tokens, because no text is embedded.
 *
 * @throws MemoryError `not_found` if the namespace has none with this id.
 */
export async function findLike(ports: Ports, scope: Scope, id: string) {
  const found = await readInNamespace(ports.names, scope, {
    read: async (logId) => ({
      memory: (await findMemories(ports, { logId, ids: [id], projection: "all" })).get(id),
      modelVersion: modelVersionOf(logId),
    }),
    isWhole: ({ memory }) => memory !== undefined,
  });
  if (found?.memory === undefined) throw noSuchMemory();
  const { memory, modelVersion } = found;
  return { text: memory.text, embedding: { ...asQuery(memory), tokens: 0 }, modelVersion };
}

/** Narrows a condition to all memories but the one with an id. */
export function excluding(condition: Condition | undefined, id: string): Condition {
  const own: Condition = { kind: "test", field: "$id", test: { op: "in", values: new Set([id]) } };
  const other: Condition = { kind: "not", operand: own };
  return condition === undefined ? other : { kind: "all", operands: [other, condition] };
}

/** Takes a memory's vectors as a query's: of a long text, windows at equal distances, as many as a query may have. */
function asQuery(memory: Pick<Stored, "vectors" | "windows">): Pick<Embedding, "vectors" | "windows"> {
  const { vectors, windows } = memory;
  if (windows === undefined || windows.length <= QUERY_WINDOWS_MAX)
    return { vectors, ...(windows && { windows }) };
  const all = vectorsOf(memory);
  const positions = Array.from({ length: QUERY_WINDOWS_MAX }, (_, i) =>
    Math.floor((i * all.length) / QUERY_WINDOWS_MAX),
  );
  const dimensions = vectors.length / all.length;
  const some = new Float32Array(QUERY_WINDOWS_MAX * dimensions);
  for (const [i, position] of positions.entries()) some.set(all[position] as Float32Array, i * dimensions);
  return { vectors: some, windows: positions.map((position) => windows[position] as Window) };
}
