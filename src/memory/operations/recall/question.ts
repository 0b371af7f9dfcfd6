import { invalid } from "../../../errors.js";
import { parseMemoryId } from "../../requests/id.js";
import { parseText } from "../../requests/text.js";

/** Maximum number of queries of one recall. */
export const QUERIES_MAX = 8;

/** Fields of which a recall has exactly one; an empty one is absent. */
export interface QuestionFields {
  readonly query?: string | undefined;
  readonly queries?: readonly string[] | undefined;
  readonly likeId?: string | undefined;
}

/** What a recall looks for: the meaning of texts, or what is like a stored memory. */
export interface Question {
  /** Queries; none if there is a memory. */
  readonly texts: readonly string[];
  /** True if the queries came as a list, even of one. */
  readonly isList: boolean;
  /** Id of the memory. */
  readonly likeId: string | undefined;
}

/** @throws MemoryError `invalid_argument` if none of the fields is given, or more than one. */
export function parseQuestion({ query = "", queries = [], likeId = "" }: QuestionFields): Question {
  if (query === "" && queries.length === 0 && likeId === "") {
    throw invalid("query", "is missing; a recall has one of query, queries and like_id");
  }
  if (queries.length > 0) {
    if (query !== "") throw invalid("queries", "is given beside query; a recall has one of them");
    if (likeId !== "") throw invalid("queries", "is given beside like_id; a recall has one of them");
    if (queries.length > QUERIES_MAX) {
      throw invalid("queries", `has ${queries.length} queries; the limit is ${QUERIES_MAX}`);
    }
    return {
      texts: queries.map((text, i) => parseText(`queries[${i}]`, text)),
      isList: true,
      likeId: undefined,
    };
  }
  if (likeId === "") return { texts: [parseText("query", query)], isList: false, likeId: undefined };
  if (query !== "") throw invalid("like_id", "is given beside query; a recall has one of them");
  return { texts: [], isList: false, likeId: parseMemoryId(likeId, "like_id") };
}
