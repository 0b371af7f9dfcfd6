import { familyOf, nameOf } from "./families.js";

/** Description of a model, by which callers judge what it finds. */
export interface ModelDescription {
  readonly id: string;
  /** The languages that it reads, as BCP 47 tags; `mul` stands for many. Empty if they are unknown. */
  readonly languages: readonly string[];
  /** Score above which a match is strong; absent where nobody has measured it. */
  readonly strongScore?: number;
}

/** Models of known families that read other languages than English, by the cards of these models. */
const NOT_ENGLISH: readonly (readonly [ids: RegExp, languages: readonly string[]])[] = [
  [/multilingual|-v2-moe$|^(bge-m3|labse|embeddinggemma-300m)$|^qwen3-|arctic-embed-(m|l)-v2/, ["mul"]],
  [/^bge-\w+-zh\b/, ["zh"]],
  [/^jina-embeddings-v2-\w+-de$/, ["de", "en"]],
  [/^jina-embeddings-v2-\w+-es$/, ["es", "en"]],
  [/^jina-embeddings-v2-\w+-zh$/, ["zh", "en"]],
];

/** Models whose strong matches docs/quality.md counts, and the score that it counts from. */
const MEASURED = /^(bundled|all-minilm-l6-v2)$/;
const STRONG_SCORE = 0.8;

export function describeModel(id: string): ModelDescription {
  const name = nameOf(id);
  return { id, languages: languagesOf(id), ...(MEASURED.test(name) && { strongScore: STRONG_SCORE }) };
}

function languagesOf(id: string): readonly string[] {
  if (familyOf(id) === undefined) return [];
  const name = nameOf(id);
  return NOT_ENGLISH.find(([ids]) => ids.test(name))?.[1] ?? ["en"];
}
