import type { JsonObject } from "../requests/json-object.js";
import { parseMetadata } from "../requests/metadata.js";
import { parseText } from "../requests/text.js";
import { handleSecrets, type OnSecret, type Redacted } from "./handle-secrets.js";

/** Text and metadata to store as a request has them, and what to do with secrets in them. */
export interface ContentsRequest {
  readonly text: string;
  readonly metadata?: JsonObject | undefined;
  /** The server's way if left out. */
  readonly onSecret?: OnSecret | undefined;
}

/** Text and metadata to store. */
export interface ParsedContents {
  readonly text: string;
  /** JSON of an object. */
  readonly metadata: string;
  /** Absent if nothing was redacted. */
  readonly redacted?: Redacted;
}

/**
 * Parses a text and its metadata, and handles the secrets in them.
 *
 * @throws MemoryError `invalid_argument`
 */
export function parseContents(
  request: ContentsRequest,
  { onSecret = "store" }: { readonly onSecret?: OnSecret | undefined },
): ParsedContents {
  const { onSecret: how = onSecret } = request;
  const text = parseText("text", request.text);
  const metadata = parseMetadata(request.metadata);
  if (how === "store") return { text, metadata };
  const handled = handleSecrets({ text, metadata: request.metadata }, how);
  if (handled.redacted === undefined) return { text, metadata };
  return {
    text: handled.text ?? text,
    metadata: parseMetadata(handled.metadata),
    redacted: handled.redacted,
  };
}
