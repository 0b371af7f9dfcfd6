import type { Principal } from "../../accounts/authenticate.js";
import { invalid, MemoryError } from "../../errors.js";
import { shown } from "../wire/json-text.js";
import { readQuery } from "../wire/query.js";
import type { Scope } from "./tools/tools.js";

/**
 * Reads what the key and the address fix for all calls. A name that is not known is refused: with a mistyped
 * one, memories would go elsewhere.
 *
 * @throws MemoryError `invalid_argument`, or `permission_denied` if the key is for another namespace.
 */
export function scopeOf(url: string, { access, namespace: own }: Principal): Scope {
  let asked: string | undefined;
  for (const [name, value] of readQuery(url)) {
    if (name !== "namespace") throw invalid(shown(name), "is not read in this address; namespace is");
    if (asked !== undefined) throw invalid("namespace", "is in the address twice");
    asked = value;
  }
  if (own !== undefined && asked !== undefined && asked !== own) {
    const message = `this key is for the namespace ${own} alone; the address names another`;
    throw new MemoryError("permission_denied", message, { reason: "KEY_OTHER_NAMESPACE" });
  }
  return { namespace: own ?? asked, readOnly: access !== "full" };
}
