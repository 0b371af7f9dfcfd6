import { invalid } from "../../errors.js";
import { suggestion } from "../../suggest.js";

/** Fields of a recalled memory, as the contract names them. */
const RESULT_FIELDS = [
  ...(["id", "text", "score", "metadata", "created_at"] as const),
  ...(["match", "words", "explanation"] as const),
  ...(["etag", "updated_at", "external_id", "superseded_by", "expire_time", "event_time"] as const),
  ...(["before", "after", "namespace", "query_index"] as const),
] as const;

export type ResultField = (typeof RESULT_FIELDS)[number];

/** Parses the fields that results are answered with; undefined means all. `id` is always among them. */
export function parseFields(paths: readonly string[] | undefined): ReadonlySet<ResultField> | undefined {
  if (paths === undefined) return undefined;
  if (paths.length === 0) throw invalid("fields", "names no field; leave it out for all");
  return new Set(["id", ...paths.map(parseField)]);
}

function parseField(path: string): ResultField {
  const field = RESULT_FIELDS.find((each) => each === path);
  if (field !== undefined) return field;
  const meant = suggestion(path, RESULT_FIELDS);
  throw invalid("fields", `has a path that is none of ${RESULT_FIELDS.join(", ")}${meant}`);
}
