import type { Principal } from "../../accounts/authenticate.js";
import { invalid, MemoryError } from "../../errors.js";
import { shown } from "../wire/json-text.js";
import { readQuery } from "../wire/query.js";
import { type Scope, TOOL_SETS } from "./tools/tools.js";

/**
 * Reads what the key and the address fix for all calls. A name that is not known is refused: with a mistyped
 * one, memories would go elsewhere.
 *
 * @throws MemoryError `invalid_argument`, or `permission_denied` if the key is for another namespace.
 */
export function scopeOf(url: string, { access, namespace: own }: Principal): Omit<Scope, "site"> {
  const { namespace, tools = "memory" } = parametersIn(url);
  if (!isToolSet(tools)) {
    throw invalid("tools", `in the address must be one of ${Object.keys(TOOL_SETS).join(", ")}`);
  }
  if (own !== undefined && namespace !== undefined && namespace !== own) {
    const message = `this key is for the namespace ${own} alone; the address names another`;
    throw new MemoryError("permission_denied", message, { reason: "KEY_OTHER_NAMESPACE" });
  }
  return { namespace: own ?? namespace, readOnly: access !== "full", tools };
}

function parametersIn(url: string): { namespace?: string; tools?: string } {
  const storeOptions: { namespace?: string; tools?: string } = {};
  for (const [name, value] of readQuery(url)) {
    if (name !== "namespace" && name !== "tools") {
      throw invalid(shown(name), "is not read in this address; namespace and tools are");
    }
    if (storeOptions[name] !== undefined) throw invalid(name, "is in the address twice");
    storeOptions[name] = value;
  }
  return storeOptions;
}

function isToolSet(name: string): name is Scope["tools"] {
  return Object.hasOwn(TOOL_SETS, name);
}
