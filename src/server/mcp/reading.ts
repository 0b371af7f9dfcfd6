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
  const message = bytes.length < LONG_BYTES ? parsed(text, "message") : parseLong(text);
  if (!isObject(message)) throw invalid("message", "is not one message of JSON-RPC");
  try {
    // The arguments are passed on as JSON.
    checkNothingIsLost(text, "params.arguments");
    return { message: withoutNothing(message), loss: undefined };
  } catch (error) {
    if (error instanceof MemoryError) return { message: withoutNothing(message), loss: error };
    throw error;
  }
}

/** Parses a long message, which is refused before it is parsed if it has more values than any may have. */
function parseLong(text: string): unknown {
  try {
    return toEnd(parseInParts(text, "message"));
  } catch (error) {
    throw error instanceof SyntaxError ? invalid("message", "is not JSON") : error;
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
