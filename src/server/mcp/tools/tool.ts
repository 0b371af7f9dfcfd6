import type { JsonObject } from "@bufbuild/protobuf";
import type { MemoryService } from "../../../../gen/recalld/v1/memory_pb.js";

export type Json = Readonly<Record<string, unknown>>;

/** RPC that a tool asks, by its name in MemoryService. */
type Rpc = Capitalize<keyof typeof MemoryService.method>;

/** Asks an RPC of MemoryService, and returns its answer in JSON. @throws ToolError */
export type Ask = (rpc: Rpc, request: Json) => Promise<Json>;

export interface ToolCall {
  /** Arguments that are the RPC's own business: it refuses those that it does not know. */
  readonly given: Json;
  /** Namespace that the call is about. */
  readonly namespace: string;
  /** Namespace that the key or the address fixes; undefined leaves it to the model. */
  readonly fixed: string | undefined;
  /** Number of tokens that the answer may take. */
  readonly tokensMax: number;
  /** Address of the server, as its caller named it. */
  readonly site: string;
  readonly ask: Ask;
}

/** One tool, as clients see it and as it works. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** When to use it, and what for: the words by which a model decides. */
  readonly description: string;
  /** JSON Schemas of its arguments, by their names. */
  readonly input: JsonObject;
  readonly requires?: string[];
  /** JSON Schemas of the fields of its answer. */
  readonly output: JsonObject;
  /** Fields that every answer has. */
  readonly returns: string[];
  /**
   * What it does beside reading; a key that may only read is not offered it. What is changed cannot be brought back, and
   * calling twice is as good as once, but adds twice.
   */
  readonly effect?: "adds" | "changes";
  run(call: ToolCall): Promise<Json>;
}

/** What kept a tool from its answer. */
export interface Refusal {
  /** Code as in the answers: `not_found`. */
  readonly code: string;
  readonly message: string;
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/** Ends a tool's call, and is shown to the model. */
export class ToolError extends Error {
  override readonly name = "ToolError";

  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Namespace of the calls that name none. */
export const NAMESPACE_DEFAULT = "default";
/** Number of tokens that an answer may take. */
export const TOKENS = { min: 500, default: 2_000, max: 20_000 };

export const NAMESPACE = { type: "string", description: `Default: ${NAMESPACE_DEFAULT}` };
export const MAX_TOKENS = {
  type: "integer",
  description: `Budget of the answer, ${TOKENS.min} to ${TOKENS.max}; default ${TOKENS.default}`,
};

/** What was redacted, in an answer. */
export const REDACTED = {
  type: "object",
  properties: { secrets: { type: "array" }, count: { type: "integer" } },
};

export const text = { type: "string" };
export const texts = { type: "array", items: text };
