import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import { invalid } from "../../errors.js";
import { shown } from "./json-text.js";
import { once, refusing } from "./plain-errors.js";
import { readQuery } from "./query.js";

/** Parameters of Connect's protocol in the query of a GET; a key is never read from there. */
const PARAMETERS = ["connect", "encoding", "message", "base64", "compression"];

/**
 * Turns a Connect GET into the POST that asks the same, so that its message is read like all others. A
 * mistake in the query is answered when the body is read, after the gate.
 */
export function posted(request: UniversalServerRequest): UniversalServerRequest {
  const header = new Headers(request.header);
  for (const name of ["content-length", "content-encoding"]) header.delete(name);
  header.set("content-type", "application/json");
  const post = { ...request, method: "POST", header };
  try {
    const { encoding = "", message = "", base64, compression } = read(request.url);
    header.set("content-type", `application/${encoding}`);
    if (compression !== undefined) header.set("content-encoding", compression);
    return { ...post, body: once(base64 === "1" ? decode(message) : Buffer.from(message)) };
  } catch (error) {
    return { ...post, body: refusing(error) };
  }
}

function read(url: string): Partial<Record<string, string>> {
  const query = readQuery(url);
  for (const [i, [name, value]] of query.entries()) {
    if (!PARAMETERS.includes(name)) throw invalid(shown(name), "is not a parameter of a Connect GET");
    if (query.findIndex(([other]) => other === name) !== i) throw invalid(name, "is given twice");
    if (name === "connect" && value !== "v1") throw invalid(name, "is none but v1");
    if (name === "base64" && value !== "1") throw invalid(name, "is none but 1");
    if (name === "encoding" && !/^(json|proto)$/.test(value))
      throw invalid(name, "is neither json nor proto");
  }
  const parameters = Object.fromEntries(query);
  if (parameters.encoding === undefined) throw invalid("encoding", "is missing; send json or proto");
  return parameters;
}

/** Decodes base64 of either alphabet, with padding or without. */
function decode(base64: string): Buffer {
  if (!/^[\w+/-]*={0,2}$/.test(base64)) throw invalid("message", "is not base64");
  return Buffer.from(base64, "base64");
}
