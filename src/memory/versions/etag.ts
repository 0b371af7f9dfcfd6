import { createHash } from "node:crypto";
import type { Stored } from "../ports/log.js";

/** Characters of an etag: 96 bits, so that two versions of a memory never share one. */
const ETAG_CHARS = 16;

/** Makes the etag of a version. A copy of its log in another model version has the same. */
export function etagOf({ opId }: Pick<Stored, "opId">): string {
  return `"${createHash("sha256").update(opId).digest("base64url").slice(0, ETAG_CHARS)}"`;
}
