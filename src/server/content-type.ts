import type { IncomingHttpHeaders } from "node:http";
import { parseContentType } from "@connectrpc/connect/protocol-connect";
import { parseContentType as parseGrpcContentType } from "@connectrpc/connect/protocol-grpc";
import { parseContentType as parseGrpcWebContentType } from "@connectrpc/connect/protocol-grpc-web";

/** Content types that bodies may have, without parameters. */
const SERVED =
  /^application\/(?:json|merge-patch\+json|x-www-form-urlencoded|proto|connect\+(?:json|proto)|grpc(?:-web)?(?:\+(?:json|proto))?)$/;

const PARAMETER = /;\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;
const UTF8 = /^utf-?8$/i;

/** Headers that name the compression of unary calls, of Connect's streams and of gRPC's messages. */
const ENCODING_HEADERS = ["content-encoding", "connect-content-encoding", "grpc-encoding"];

/**
 * Rewrites the headers that describe a body to the one form in which they are compared: HTTP ignores case, quotes
 * and parameters without a meaning here. A type with a charset that is not served stays as it is.
 */
export function normalizeHeaders(headers: IncomingHttpHeaders): void {
  const type = headers["content-type"];
  const isNormal = type === undefined || type === "application/json";
  if (!isNormal && isServed(type) && foreignCharset(type) === undefined) headers["content-type"] = bare(type);
  for (const name of ENCODING_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    const encoding = String(value).trim().toLowerCase();
    if (encoding === "" || encoding === "identity") delete headers[name];
    // RFC 9110 has recipients treat the older name alike.
    else headers[name] = encoding === "x-gzip" ? "gzip" : encoding;
  }
}

/** Reason for which a type is not served, and the type that is. */
export function unsupported(type: string, [served] = ["application/json"] as readonly string[]): string {
  const charset = foreignCharset(type);
  if (charset !== undefined) return `charset ${charset.slice(0, 64)} is not served here; send UTF-8`;
  return `content type ${type.slice(0, 64)} is not served here; send Content-Type: ${served}`;
}

/** Returns the charset that a served type names, if it is not UTF-8. */
function foreignCharset(type: string): string | undefined {
  if (!isServed(type)) return undefined;
  const charsets = [...type.matchAll(PARAMETER)].filter(([, name]) => name?.toLowerCase() === "charset");
  const values = charsets.map(([, , value = ""]) => value.trim().replace(/^"(.*)"$/, "$1"));
  return values.find((value) => !UTF8.test(value));
}

/** Form of the messages in a body. */
export interface Encoding {
  readonly codec: "json" | "proto";
  readonly enveloped: boolean;
}

/** Reads how messages are written from the normalized content type; undefined for types that are not served. */
export function encodingOf(type: string): Encoding | undefined {
  const connect = parseContentType(type);
  const parsed = connect ?? parseGrpcContentType(type) ?? parseGrpcWebContentType(type);
  return parsed && { codec: parsed.binary ? "proto" : "json", enveloped: connect?.stream ?? true };
}

/** Returns a type of gRPC or gRPC-Web that is served, without parameters; undefined for any other. */
export function grpcTypeOf(type: string): string | undefined {
  return isServed(type) && bare(type).startsWith("application/grpc") ? bare(type) : undefined;
}

function isServed(type: string): boolean {
  return SERVED.test(bare(type));
}

function bare(type: string): string {
  return (type.split(";", 1)[0] as string).trim().toLowerCase();
}
