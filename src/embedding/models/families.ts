import type { ModelDescription } from "../../memory/ports/embedder.js";
import type { Convention } from "../encode/convention.js";

/** The convention of a family of models whose own files do not state it, as is usual for converted ones. */
interface Family extends Pick<Convention, "pooling"> {
  readonly name: string;
  /** Matches the last part of a model's id, in lower case and without `-onnx`. */
  readonly ids: RegExp;
  readonly queryPrefix?: string;
  readonly passagePrefix?: string;
  /** URL of a model card that states the convention. */
  readonly source: string;
}

const HUB = "https://huggingface.co/";
const SEARCHING = "Represent this sentence for searching relevant passages: ";

export const FAMILIES: readonly Family[] = [
  { name: "bundled", ids: /^bundled$/, pooling: "mean", source: "models/bundled" },
  {
    name: "sentence-transformers",
    ids: /^(all|paraphrase|multi-qa)-(multilingual-)?(minilm-l\d+|mpnet-base|distilroberta|albert-small)(-cos)?-v\d$/,
    pooling: "mean",
    source: `${HUB}sentence-transformers/all-MiniLM-L6-v2`,
  },
  {
    name: "e5",
    ids: /^(multilingual-)?e5-(small|base|large)(-v2|-unsupervised)?$/,
    pooling: "mean",
    queryPrefix: "query: ",
    passagePrefix: "passage: ",
    source: `${HUB}intfloat/multilingual-e5-small`,
  },
  {
    name: "bge-en",
    ids: /^bge-(small|base|large)-en(-v1\.5)?$/,
    pooling: "cls",
    queryPrefix: SEARCHING,
    source: `${HUB}BAAI/bge-small-en-v1.5`,
  },
  {
    name: "bge-zh",
    ids: /^bge-(small|base|large)-zh(-v1\.5)?$/,
    pooling: "cls",
    queryPrefix: "为这个句子生成表示以用于检索相关文章：",
    source: `${HUB}BAAI/bge-small-zh-v1.5`,
  },
  { name: "bge-m3", ids: /^bge-m3$/, pooling: "cls", source: `${HUB}BAAI/bge-m3` },
  { name: "gte", ids: /^gte-(small|base|large)$/, pooling: "mean", source: `${HUB}thenlper/gte-small` },
  {
    name: "gte-v1.5",
    ids: /^gte-((base|large)-en-v1\.5|multilingual-base|modernbert-base)$/,
    pooling: "cls",
    source: `${HUB}Alibaba-NLP/gte-base-en-v1.5`,
  },
  {
    name: "nomic",
    ids: /^(nomic-embed-text-v(1|1\.5|2-moe)|modernbert-embed-base)$/,
    pooling: "mean",
    queryPrefix: "search_query: ",
    passagePrefix: "search_document: ",
    source: `${HUB}nomic-ai/nomic-embed-text-v1.5`,
  },
  {
    name: "embeddinggemma",
    ids: /^embeddinggemma-300m$/,
    // Two layers follow the mean of the states, and only the model's own output has passed them.
    pooling: "model",
    queryPrefix: "task: search result | query: ",
    passagePrefix: "title: none | text: ",
    source: `${HUB}google/embeddinggemma-300m`,
  },
  {
    name: "qwen3",
    ids: /^qwen3-embedding-\d+(\.\d+)?b$/,
    pooling: "last",
    queryPrefix:
      "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:",
    source: `${HUB}Qwen/Qwen3-Embedding-0.6B`,
  },
];

export function familyOf(model: string): Family | undefined {
  const name = nameOf(model);
  return FAMILIES.find(({ ids }) => ids.test(name));
}

/** Names a model without its publisher: the last part of its id, in lower case and without `-onnx`. */
function nameOf(model: string): string {
  return (model.split("/").at(-1) as string).toLowerCase().replace(/-onnx$/, "");
}

/** Models of known families that read other languages than English, by the cards of these models. */
const NOT_ENGLISH: readonly (readonly [ids: RegExp, languages: readonly string[]])[] = [
  [/multilingual|-v2-moe$|^(bge-m3|embeddinggemma-300m)$|^qwen3-/, ["mul"]],
  [/^bge-\w+-zh\b/, ["zh"]],
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
