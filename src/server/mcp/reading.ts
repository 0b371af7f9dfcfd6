import { inTimeSlices } from "../../concurrency/time-slices.js";
import { invalid, MemoryError } from "../../errors.js";
import { isObject } from "../../memory/requests/metadata.js";
import {
  checkingNothingIsLost,
  emptiedBelow,
  LONG_BYTES,
  notJson,
  parsed,
  parseInParts,
  textOf,
} from "../json-text.js";
import type { Json } from "./tools/tool.js";

/** Depth of a message's params. */
const PARAMS_DEPTH = 2;
const ARGUMENTS = { name: "arguments", fieldDepth: PARAMS_DEPTH + 1 };

/** A message of JSON-RPC, as it was read. */
interface Read {
  readonly message: Json;
  /** Part of it that no value holds: a key that came twice, or a number. */
  readonly loss: MemoryError | undefined;
}

/**
 * Reads one message. Of what reading has lost, a key that came twice or a number, the tool that is called tells: only
 * its answer reaches a model. @throws MemoryError `invalid_argument`.
 */
export async function readMessage(bytes: Uint8Array): Promise<Read> {
  const text = textOf(bytes, "message");
  if (bytes.length < LONG_BYTES) return readWith(text, parsed(text, "message"));
  try {
    return await readWith(text, await inTimeSlices(parseInParts(text, ARGUMENTS)));
  } catch (error) {
    if (error instanceof SyntaxError) throw notJson(text, "message");
    // No tool takes these arguments, and to parse them would take long. The tool's name is still needed.
    const others = emptiedBelow(text, PARAMS_DEPTH);
    if (!(error instanceof MemoryError) || others.length >= LONG_BYTES) throw error;
    return { message: messageOf(parsed(others, "message")), loss: error };
  }
}

async function readWith(text: string, value: unknown): Promise<Read> {
  const message = messageOf(value);
  try {
    // The arguments are passed on as JSON.
    await inTimeSlices(checkingNothingIsLost(text, "params.arguments"));
    const { arguments: args } = (message.params ?? {}) as Json;
    // The protocol's library would drop it in silence.
    if (isObject(args) && Object.hasOwn(args, "__proto__"))
      throw invalid("__proto__", "is no argument of any tool");
    return { message, loss: undefined };
  } catch (error) {
    if (error instanceof MemoryError) return { message, loss: error };
    throw error;
  }
}

/**
 * Leaves out what stands for nothing where the protocol wants an object or none: models write it so.
 *
 * @throws MemoryError `invalid_argument`.
 */
function messageOf(value: unknown): Json {
  if (!isObject(value)) throw invalid("message", "is not one message of JSON-RPC");
  const { params, ...message } = value;
  if (params === undefined || params === null) return message;
  if (message.method !== "tools/call" || !isObject(params)) return { ...message, params };
  const { arguments: args, ...others } = params;
  const isNothing = args === undefined || args === null || args === "";
  return { ...message, params: isNothing || (Array.isArray(args) && args.length === 0) ? others : params };
}
