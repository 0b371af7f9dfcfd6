import { createHash } from "node:crypto";
import { parseExternalId } from "../../src/memory/requests/external-id.js";
import type { Imported } from "./imported.js";

/** Makes a memory's external id: its own, or its id in the source, or what stands for one that cannot be one. */
export function externalIdOf({ sourceId, externalId = sourceId }: Imported): string {
  try {
    return parseExternalId(externalId) ?? sourceId;
  } catch {
    // Lone surrogates are written out, as all of them have the same bytes.
    const text = externalId.isWellFormed() ? externalId : JSON.stringify(externalId);
    return `import-${createHash("sha256").update(text).digest("hex")}`;
  }
}
