import { inTimeSlices } from "../../concurrency/time-slices.js";
import { invalid } from "../../errors.js";
import { isObject } from "../../memory/requests/metadata.js";
import { parseInSteps, textOf } from "../json-text.js";
import type { Json } from "./tools/tool.js";

/**
 * Reads one message. Of what reading has lost, a key that came twice or a number, the tool that is called tells: only
 * its answer reaches a model. @throws MemoryError `invalid_argument`.
 */
export async function readMessage(bytes: Uint8Array) {
  const work = parseInSteps(textOf(bytes, "message"), { what: "message", part: "params.arguments" });
  const { value, loss } = await inTimeSlices(work);
  return { message: messageOf(value), loss };
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
