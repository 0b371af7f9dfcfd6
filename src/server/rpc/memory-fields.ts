import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Projected } from "../../memory/ports/log.js";
import type { JsonObject } from "../../memory/requests/metadata.js";
import { etagOf } from "../../memory/versions/current-version.js";
import type { Shown } from "../../memory/versions/fetch.js";

/** Lists the texts of a memory, which its answer holds. */
export function textsOf({ text, metadata }: Projected["text"]): string[] {
  return [text, metadata];
}

/** Translates a memory as callers see it. */
export function memoryOf(entry: Shown) {
  const { updatedAt = timestampFromMs(entry.createdAtMs), ...version } = versionOf(entry);
  return { ...shared(entry), tokens: entry.tokens, ...version, updatedAt };
}

/** Makes the fields that tell one version of a memory from another, and what hides it. */
export function versionOf(entry: Shown) {
  const { updatedAtMs, externalId, supersededBy, expiresAtMs } = entry;
  return {
    etag: etagOf(entry),
    ...(updatedAtMs !== undefined && { updatedAt: timestampFromMs(updatedAtMs) }),
    ...(externalId !== undefined && { externalId }),
    ...(supersededBy !== undefined && { supersededBy }),
    ...(expiresAtMs !== undefined && { expireTime: timestampFromMs(expiresAtMs) }),
  };
}

/** Makes the fields of a memory that every answer has if the memory has them. */
export function shared({ id, text, metadata, createdAtMs, eventAtMs }: Projected["text"]) {
  return {
    id,
    text,
    metadata: JSON.parse(metadata) as JsonObject,
    createdAt: timestampFromMs(createdAtMs),
    ...(eventAtMs !== undefined && { eventTime: timestampFromMs(eventAtMs) }),
  };
}
