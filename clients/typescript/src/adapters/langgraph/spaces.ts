import type { MatchCondition } from "@langchain/langgraph-checkpoint";
import type { Recalld } from "../../client.js";
import { RecalldError } from "../../errors.js";
import { nameOf, pathOf } from "./names.js";

/** Most namespaces that are read to answer one operation. */
const NAMESPACES_MAX = 10_000;
const PAGE_SIZE = 100;

export interface Store {
  readonly recalld: Recalld;
  /** First part of the names of all namespaces; empty means none. */
  readonly root: string;
}

/** A namespace of the store: what recalld names it, and its path. */
export interface Space {
  readonly name: string;
  readonly path: readonly string[];
}

/** Finds the namespaces at and below a path that hold something, in the order of their names. */
export async function spacesWithin(store: Store, path: readonly string[]): Promise<Space[]> {
  const name = nameOf(store.root, path);
  // Two lists, because names that only begin alike, such as `users/420`, stand between the two.
  const own = name === "" ? [] : await listed(store, { prefix: name, first: true });
  const below = await listed(store, { prefix: name === "" ? "" : `${name}/` });
  return [...own.filter((each) => each.name === name), ...below];
}

/** Finds the paths of the namespaces that hold something and meet all conditions. */
export async function pathsThat(store: Store, conditions: readonly MatchCondition[]): Promise<string[][]> {
  const fixed = conditions.find(({ matchType }) => matchType === "prefix")?.path ?? [];
  const wildcard = fixed.indexOf("*");
  const start = wildcard === -1 ? fixed : fixed.slice(0, wildcard);
  const spaces = await spacesWithin(store, start);
  const paths = spaces.map(({ path }) => [...path]);
  return paths.filter((path) => conditions.every((condition) => matches(condition, path)));
}

async function listed(
  { recalld, root }: Store,
  { prefix, first = false }: { prefix: string; first?: boolean },
): Promise<Space[]> {
  const found: Space[] = [];
  for await (const { namespace, memories } of recalld.namespaces({
    prefix,
    pageSize: first ? 1 : PAGE_SIZE,
  })) {
    const path = pathOf(root, namespace);
    if (path !== undefined && memories > 0) found.push({ name: namespace, path });
    if (first) break;
    if (found.length > NAMESPACES_MAX) throw tooMany(prefix);
  }
  return found;
}

function matches({ matchType, path }: MatchCondition, namespace: readonly string[]): boolean {
  if (path.length > namespace.length) return false;
  const from = matchType === "prefix" ? 0 : namespace.length - path.length;
  return path.every((label, n) => label === "*" || label === namespace[from + n]);
}

function tooMany(prefix: string): RecalldError {
  const message = `there are more than ${NAMESPACES_MAX} namespaces below ${prefix}: give a longer prefix`;
  return new RecalldError("out_of_range", message, { field: "prefix" });
}
