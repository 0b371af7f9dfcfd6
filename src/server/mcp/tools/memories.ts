import type { JsonObject } from "@bufbuild/protobuf";
import { memoriesOf } from "../../../errors.js";
import { parseStored } from "../../rpc/stored-json.js";
import type { Fitted, Showable } from "./budget.js";
import { type Json, text, texts } from "./tool.js";

/** Decimals of a score that mean something to a reader. */
const SCORE_DECIMALS = 3;

/** Shows a memory of an RPC's answer as a model needs it: without what is empty. What is undefined is not sent. */
export function memoryView(memory: Json): Showable {
  const { id, text, score, metadata, created_at, updated_at, namespace } = memory;
  const { event_time, expire_time, superseded_by } = memory;
  const { before, after } = memory as { [side in "before" | "after"]?: { memories: Json[] } };
  return {
    id: String(id),
    text: String(text),
    namespace,
    score: typeof score === "number" ? Number(score.toFixed(SCORE_DECIMALS)) : undefined,
    metadata: Object.keys(metadata ?? {}).length > 0 ? parseStored(metadata as JsonObject) : undefined,
    created_at,
    updated_at: updated_at === created_at ? undefined : updated_at,
    event_time,
    expire_time,
    superseded_by,
    before: before?.memories.map(memoryView),
    after: after?.memories.map(memoryView),
  };
}

/** Schemas of an answer with memories; `more` are further fields of the answer, `ofEach` of each memory. */
export function memoriesSchema(more: JsonObject = {}, ofEach: JsonObject = {}) {
  const memory = {
    type: "object",
    properties: { id: text, text, cut: { type: "boolean" }, ...ofEach },
    required: ["id", "text"],
  };
  const output = { memories: { type: "array", items: memory }, left_out: texts, note: text, ...more };
  return { output, returns: ["memories"] };
}

/** Advice on how to read on; absent where everything is shown. */
export function noteOn({ memories, left_out }: Fitted): string | undefined {
  const isCut = memories.some(({ cut }) => cut === true);
  const notes = [
    isCut && "a text is cut",
    left_out && `${memoriesOf(left_out.length)} ${left_out.length === 1 ? "is" : "are"} left out`,
  ];
  const said = notes.filter(Boolean).join(" and ");
  return said === "" ? undefined : `${said} for max_tokens: read on by memory_list with ids`;
}
