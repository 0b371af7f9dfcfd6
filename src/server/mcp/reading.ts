import { invalid, MemoryError } from "../../errors.js";
import { isObject } from "../../memory/requests/metadata.js";
import { checkNothingIsLost, parsed, textOf } from "../json-text.js";

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
  const message = parsed(text, "message");
  if (!isObject(message)) throw invalid("message", "is not one message of JSON-RPC");
  try {
    // The arguments are passed on as JSON.
    checkNothingIsLost(text, "params.arguments");
    checkNoProto(message.params);
    return { message: withoutNothing(message), loss: undefined };
  } catch (error) {
    if (error instanceof MemoryError) return { message: withoutNothing(message), loss: error };
    throw error;
  }
}

/** Refuses an argument that the protocol's library would drop in silence. */
function checkNoProto(params: unknown): void {
  if (isObject(params) && isObject(params.arguments) && Object.hasOwn(params.arguments, "__proto__"))
    throw invalid("__proto__", "is no argument of any tool");
}

/** Leaves out what stands for nothing where the protocol wants an object or none: models write it so. */
function withoutNothing({ params, ...message }: Message): Message {
  if (params === undefined || params === null) return message;
  if (message.method !== "tools/call" || !isObject(params)) return { ...message, params };
  const { arguments: args, ...others } = params as { readonly arguments?: unknown };
  const isNothing = args === undefined || args === null || args === "";
  return { ...message, params: isNothing || (Array.isArray(args) && args.length === 0) ? others : params };
}
