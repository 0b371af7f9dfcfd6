import type { CallToolResult } from "@modelcontextprotocol/server";
import { safeName } from "../../../errors.js";
import { didYouMean } from "../../../suggest.js";
import {
  type Ask,
  type Json,
  NAMESPACE_DEFAULT,
  type Refusal,
  TOKENS,
  type Tool,
  ToolError,
} from "./tool.js";
import type { Scope } from "./tools.js";

/**
 * Calls a tool. What goes wrong is a result too, in words that tell a model what to do, because only results
 * reach it.
 */
export async function callTool(
  tool: Tool,
  args: Json,
  { scope, ask }: { readonly scope: Scope; readonly ask: Ask },
): Promise<CallToolResult> {
  try {
    const { namespace, max_tokens, ...given } = withoutNulls(tool, args);
    checkNames(tool, given);
    const call = {
      given,
      ask,
      site: scope.site,
      fixed: scope.namespace,
      namespace: namespaceOf(scope, namespace, given),
      tokensMax: budgetOf(max_tokens),
    };
    const answer = await tool.run(call);
    return { content: [{ type: "text", text: JSON.stringify(answer) }], structuredContent: { ...answer } };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return refused(error.refusal);
  }
}

/** Leaves out arguments that are null, as models send what they leave out. */
function withoutNulls({ requires = [] }: Tool, args: Json): Json {
  const missing = requires.find((name) => args[name] === null);
  if (missing !== undefined) throw wrong(`${missing} is null, and must be given`);
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** Refuses an argument that is one of the tool's with a slip in it; the RPC refuses all others that it does not know. */
function checkNames({ name, input }: Tool, args: Json): void {
  for (const unknown of Object.keys(args).filter((each) => !Object.hasOwn(input, each))) {
    const meant = didYouMean(unknown, Object.keys(input));
    if (meant !== undefined)
      throw wrong(`${safeName(unknown)} is no argument of ${name}; did you mean ${meant}?`);
  }
}

/** Makes the result of a call that was refused: what went wrong, and what to do. */
export function refused(refusal: Refusal): CallToolResult {
  return { content: [{ type: "text", text: errorText(refusal) }], isError: true };
}

/**
 * Chooses the namespace: what the key or the address fixes comes before what the model says, and allows no other. An
 * empty name counts as left out. The RPC refuses what is no string.
 */
function namespaceOf({ namespace: fixed }: Scope, given: unknown, { also_in: others }: Json): string {
  const asked = given === "" ? undefined : given;
  if (fixed !== undefined && (others !== undefined || (asked !== undefined && asked !== fixed))) {
    const message = `this connection is for the namespace ${fixed} alone`;
    throw new ToolError({ code: "permission_denied", message, reason: "KEY_OTHER_NAMESPACE" });
  }
  return fixed ?? (asked as string | undefined) ?? NAMESPACE_DEFAULT;
}

function budgetOf(asked: unknown): number {
  if (asked === undefined) return TOKENS.default;
  if (Number.isInteger(asked) && Number(asked) >= TOKENS.min && Number(asked) <= TOKENS.max)
    return Number(asked);
  throw wrong(`max_tokens must be a whole number from ${TOKENS.min} to ${TOKENS.max}`);
}

function wrong(message: string): ToolError {
  return new ToolError({ code: "invalid_argument", message });
}

function errorText({ code, message, reason, retryAfterMs, requestId }: Refusal): string {
  const advice = BY_REASON[reason ?? ""] ?? BY_CODE[code] ?? "Tell the user.";
  const wait = retryAfterMs === undefined ? "" : ` Wait ${Math.ceil(retryAfterMs / 1000)} s first.`;
  const id = code === "internal" && requestId !== undefined ? ` Request id: ${requestId}.` : "";
  return `${message} (${code}${reason === undefined ? "" : `, ${reason}`}). ${advice}${wait}${id}`;
}

const AGAIN = "Try the same call again.";

const BY_CODE: Readonly<Record<string, string>> = {
  invalid_argument: "Correct that argument and call again.",
  unauthenticated: "The user must set a valid API key for this server.",
  permission_denied: "The user must give this server a key that may do this.",
  not_found: "Find the id by memory_recall or memory_list.",
  aborted: "Read it by memory_list with ids, then decide anew.",
  unavailable: AGAIN,
  deadline_exceeded: "It may have been done: look before you try again.",
  internal: "This is a fault of the server: tell the user.",
};

const BY_REASON: Readonly<Record<string, string>> = {
  QUOTA_EXHAUSTED: "Do not try again: the user must change the account's plan.",
  KEY_RATE_LIMITED: AGAIN,
  CONCURRENCY_LIMITED: "Make fewer calls at a time.",
  KEY_OTHER_NAMESPACE: "Leave the arguments namespace and also_in out.",
  MEMORY_SUPERSEDED: "Another memory has replaced it: change that one.",
  SECRET_FOUND: "Store it without the secret.",
  BODY_TOO_LARGE: "Store less text at a time.",
};
