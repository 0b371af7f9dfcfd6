import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { RecallRequest_Mode as Mode, type RecallRequest, RecallRequestSchema } from "../api";
import type { Limits } from "./recall-options";

const DAY_S = 86_400;

/** What a recall asks for beyond its question and its limits, as it was typed. */
export interface MoreOptions {
  /** Further questions, one a line. */
  readonly questions: string;
  /** Further namespaces, one a line. */
  readonly alsoIn: string;
  /** Days in which the weight of a memory's age falls to a half. */
  readonly halfLife: string;
  readonly weight: string;
  readonly before: string;
  readonly after: string;
  /** Path in the metadata whose value neighbors share. */
  readonly same: string;
  readonly maxTokens: string;
}

export const NO_MORE: MoreOptions = {
  questions: "",
  alsoIn: "",
  halfLife: "",
  weight: "0.1",
  before: "",
  after: "",
  same: "",
  maxTokens: "",
};

export interface RecallForm {
  readonly query: string;
  readonly namespace: string;
  readonly topK: number;
  readonly mode: Mode;
  readonly filter: JsonObject | undefined;
  readonly limits: Limits;
  readonly more: MoreOptions;
}

/** Makes the call of what was typed. */
export function requestOf({ query, namespace, topK, mode, filter, limits, more }: RecallForm): RecallRequest {
  const questions = linesOf(more.questions);
  const [before, after] = [Number(more.before), Number(more.after)];
  return create(RecallRequestSchema, {
    ...(questions.length > 0 ? { queries: [query, ...questions] } : { query }),
    namespace,
    topK,
    mode,
    explain: true,
    alsoIn: linesOf(more.alsoIn),
    ...(filter && { filter }),
    ...(limits.minScore !== "" && { minScore: Number(limits.minScore) }),
    ...(limits.minFit !== "" && mode === Mode.HYBRID && { minFit: Number(limits.minFit) }),
    ...(Number(more.halfLife) > 0 && { recency: recencyOf(more) }),
    ...(before + after > 0 && { neighbors: { before, after, same: more.same.trim() } }),
    ...(more.maxTokens !== "" && { maxTokens: Number(more.maxTokens) }),
  });
}

/** Writes a call as JSON that the plain paths take. */
export function bodyOf(request: RecallRequest): object {
  return toJson(RecallRequestSchema, request, { useProtoFieldName: true }) as JsonObject;
}

function recencyOf({ halfLife, weight }: MoreOptions) {
  const seconds = Number(halfLife) * DAY_S;
  const nanos = Math.round((seconds % 1) * 1e9);
  return { halfLife: { seconds: BigInt(Math.trunc(seconds)), nanos }, weight: Number(weight) };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return [...new Set(lines)].filter((line) => line !== "");
}
