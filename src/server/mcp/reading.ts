import { toEnd } from "../../concurrency/time-slices.js";
import { invalid, MemoryError } from "../../errors.js";
import { isObject } from "../../memory/requests/metadata.js";
import { checkNothingIsLost, LONG_BYTES, parsed, parseInParts, textOf } from "../json-text.js";

/** Message of JSON-RPC, as far as one looks into it here. */
export interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** A message, as it was read. */
export interface Read {
  readonly message: Message;
  /** Part of it that no value holds: a key that came twice, or a number. */
  readonly loss: MemoryError | undefined;
}

/**
 * Reads one message. Of what reading has lost, a key that came twice or a number, the tool that is called tells: only
 * its answer reaches a model. @throws MemoryError `invalid_argument`.
 */
export function readMessage(bytes: Uint8Array): Read {
  const text = textOf(bytes, "message");
  const refused = bytes.length < LONG_BYTES ? undefined : refusalOf(text);
  const message = parsed(text, "message");
  if (!isObject(message)) throw invalid("message", "is not one message of JSON-RPC");
  if (refused !== undefined) {
    const { method, params } = message as Message;
    const isCall = method === "tools/call" && isObject(params);
    const others = isCall ? { ...params, arguments: {} } : params;
    return { message: withoutNothing({ ...message, params: others }), loss: refused };
  }
  try {
    // The arguments are passed on as JSON.
    checkNothingIsLost(text, "params.arguments");
    return { message: withoutNothing(message), loss: undefined };
  } catch (error) {
    if (error instanceof MemoryError) return { message: withoutNothing(message), loss: error };
    throw error;
  }
}

/** Finds out what makes a long message one whose arguments no tool takes: looking at each would take long. */
function refusalOf(text: string): MemoryError | undefined {
  try {
    toEnd(parseInParts(text, "arguments"));
    return undefined;
  } catch (error) {
    return error instanceof MemoryError ? error : undefined;
  }
}

/** Leaves out what stands for nothing where the protocol wants an object or none: models write it so. */
function withoutNothing({ params, ...message }: Message): Message {
  if (params === undefined || params === null) return message;
  if (message.method !== "tools/call" || !isObject(params)) return { ...message, params };
  const { arguments: args, ...others } = params as { readonly arguments?: unknown };
  const isNothing = args === undefined || args === null || args === "";
  return { ...message, params: isNothing || (Array.isArray(args) && args.length === 0) ? others : params };
}
