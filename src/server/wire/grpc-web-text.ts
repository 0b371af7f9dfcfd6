import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { invalid, type MemoryError } from "../../errors.js";

const TEXT = /^application\/grpc-web-text\b/;

/** Tells whether a request's messages are gRPC-Web's, in base64. Its headers must be normalized. */
export function isText({ header }: UniversalServerRequest): boolean {
  return TEXT.test(header.get("content-type") ?? "");
}

/** Converts a request from base64 to bytes. */
export function inBytes(request: UniversalServerRequest): UniversalServerRequest {
  const header = new Headers(request.header);
  header.set("content-type", (header.get("content-type") ?? "").replace(TEXT, "application/grpc-web"));
  // It counts the base64 letters.
  header.delete("content-length");
  return { ...request, header, body: decoded(request.body as AsyncIterable<Uint8Array>) };
}

/** Converts an answer to base64, each piece separately, so that a stream's messages are not held back. */
export function inText(response: UniversalServerResponse): UniversalServerResponse {
  const header = new Headers(response.header);
  const type = header.get("content-type") ?? "";
  // A refusal before the request became a call is answered in JSON.
  if (!type.startsWith("application/grpc-web")) return response;
  header.set("content-type", type.replace("grpc-web", "grpc-web-text"));
  return { ...response, header, body: encoded(response.body ?? []) };
}

async function* encoded(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    if (bytes.byteLength > 0) yield Buffer.from(Buffer.from(bytes).toString("base64"));
  }
}

/**
 * Decodes base64 in groups of four letters. Any group may end with padding, because clients join what they
 * encoded.
 */
async function* decoded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = "";
  for await (const chunk of body) {
    const text = rest + Buffer.from(chunk).toString("latin1");
    const whole = text.length - (text.length % 4);
    rest = text.slice(whole);
    const bytes = decode(text.slice(0, whole));
    if (bytes.length > 0) yield bytes;
  }
  if (rest !== "") throw notBase64();
}

function decode(text: string): Buffer {
  // Node stops at the first padding, and ignores what is no letter of base64.
  const parts = text.split(/(?<==)(?!=)/).map((part) => {
    const bytes = Buffer.from(part, "base64");
    if (bytes.toString("base64") !== part) throw notBase64();
    return bytes;
  });
  return Buffer.concat(parts);
}

function notBase64(): MemoryError {
  return invalid("body", "is not base64, as its Content-Type says");
}
