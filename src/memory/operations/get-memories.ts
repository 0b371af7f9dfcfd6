import { authorizeFree } from "../requests/authorize.js";
import { parseMemoryIds } from "../requests/id.js";
import { findInNamespace } from "../versions/fetch.js";
import { fillPage, type Step } from "./page-of-memories.js";
import type { NamespaceRequest, Ports } from "./ports.js";

/** Memories read at a time: few, because the answer may have no room for them. */
const READ_MANY = 16;

/**
 * Finds several memories by their ids, also superseded ones, in the order of the ids. Those that no memory has are
 * `missing`, and those that the answer has no room for `remaining`. Costs nothing.
 */
export async function getMemories(
  ports: Ports,
  request: NamespaceRequest & { readonly ids: readonly string[] },
) {
  const ids = parseMemoryIds(request.ids);
  const scope = await authorizeFree(ports, request, { writes: false });
  const missing: string[] = [];
  const steps = async function* (): AsyncGenerator<Step<number>> {
    for (let at = 0; at < ids.length; at += READ_MANY) {
      const some = ids.slice(at, at + READ_MANY);
      const found = await findInNamespace(ports, scope, { ids: some, projection: "text" });
      for (const [i, id] of some.entries()) {
        const entry = found.get(id);
        if (entry === undefined) missing.push(id);
        yield { entry, next: at + i + 1 };
      }
    }
  };
  const { items, next } = await fillPage(steps(), ids.length);
  return { memories: items, missing, remaining: ids.slice(next) };
}
