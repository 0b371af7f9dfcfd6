import { invalid, MemoryError } from "../../errors.js";
import { checkNothingIsLost } from "../wire/json-text.js";

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

/** Path of the part of a message that is passed on as JSON. */
const ARGUMENTS = "params.arguments";

/** Reads the bytes of one message. @throws MemoryError `invalid_argument`. */
export function readMessage(bytes: Uint8Array): Read {
  const text = decoded(bytes);
  const message = parsed(text);
  if (!isObject(message)) throw invalid("message", "is not one message of JSON-RPC");
  return { message: withoutNothing(message), loss: lossIn(text) };
}

/** Decodes strictly, but for a byte order mark, which says nothing. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("message", "is not UTF-8");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("message", "is not JSON");
  }
}

/** Leaves out what stands for nothing where the protocol wants an object or none: models write it so. */
function withoutNothing({ params, ...message }: Message): Message {
  if (params === undefined || params === null) return message;
  if (message.method !== "tools/call" || !isObject(params)) return { ...message, params };
  const { arguments: args, ...others } = params as { readonly arguments?: unknown };
  return { ...message, params: isNothing(args) ? others : params };
}

function isNothing(args: unknown): boolean {
  return args === undefined || args === null || args === "" || (Array.isArray(args) && args.length === 0);
}

/** Finds what reading has lost of a message. The tool that is called says so: only its answer reaches a model. */
function lossIn(text: string): MemoryError | undefined {
  try {
    checkNothingIsLost(text, ARGUMENTS);
    return undefined;
  } catch (error) {
    if (error instanceof MemoryError) return error;
    throw error;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
