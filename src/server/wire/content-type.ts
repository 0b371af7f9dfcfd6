/** Content types that bodies may have, without parameters. */
const SERVED = /^application\/(?:json|proto|connect\+(?:json|proto)|grpc(?:-web)?(?:\+(?:json|proto))?)$/;

const PARAMETER = /;\s*([^=;\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)/g;
const UTF8 = /^utf-?8$/i;

/** Headers that name the compression of unary calls, of Connect's streams and of gRPC's messages. */
const ENCODING_HEADERS = ["content-encoding", "connect-content-encoding", "grpc-encoding"];

/**
 * Rewrites the headers that describe a body to the form that Connect knows. It compares them letter by
 * letter, where HTTP ignores case, quotes and parameters without a meaning here.
 */
export function normalizeHeaders(header: Headers): void {
  const type = header.get("content-type") ?? "";
  if (isServed(type) && foreignCharset(type) === undefined) header.set("content-type", bare(type));
  for (const name of ENCODING_HEADERS) {
    const value = header.get(name);
    if (value === null) continue;
    const compression = compressionOf(value);
    if (compression === null) header.delete(name);
    else header.set(name, compression);
  }
}

/** Name of a compression in Connect's form; null for none. */
export function compressionOf(header = ""): string | null {
  const encoding = header.trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return null;
  // RFC 9110 has recipients treat the older name alike.
  return encoding === "x-gzip" ? "gzip" : encoding;
}

/** True for `application/json` in UTF-8. */
export function isJson(type: string): boolean {
  return (
    type === "application/json" || (bare(type) === "application/json" && foreignCharset(type) === undefined)
  );
}

/** Returns the charset that a served type names, if it is not UTF-8. */
export function foreignCharset(type: string): string | undefined {
  if (!isServed(type)) return undefined;
  const charsets = [...type.matchAll(PARAMETER)].filter(([, name]) => name?.toLowerCase() === "charset");
  const values = charsets.map(([, , value = ""]) => value.trim().replace(/^"(.*)"$/, "$1"));
  return values.find((value) => !UTF8.test(value));
}

/** Description of a body by its headers. */
export interface Encoding {
  readonly codec: "json" | "proto";
  readonly enveloped: boolean;
  /** Name of the compression, if any. */
  readonly compression: string | null;
}

/** Reads how a body is written from its normalized headers; undefined for types that are not served. */
export function encodingOf(header: Headers): Encoding | undefined {
  const type = header.get("content-type") ?? "";
  const [, wrapped, codec] = /^application\/(?:(connect|grpc(?:-web)?)\+?)?(json|proto|)$/.exec(type) ?? [];
  if (codec === undefined || (wrapped === undefined && codec === "")) return undefined;
  return {
    // Protobuf is gRPC's default.
    codec: codec === "json" ? "json" : "proto",
    enveloped: wrapped !== undefined,
    compression: header.get(encodingHeader(wrapped)),
  };
}

function encodingHeader(wrapped: string | undefined): string {
  if (wrapped === undefined) return "content-encoding";
  return wrapped === "connect" ? "connect-content-encoding" : "grpc-encoding";
}

function isServed(type: string): boolean {
  return SERVED.test(bare(type));
}

function bare(type: string): string {
  return (type.split(";", 1)[0] as string).trim().toLowerCase();
}
