import type { GetOperation, Item, SearchItem, SearchOperation } from "@langchain/langgraph-checkpoint";
import type { Metadata } from "../../contract.js";
import { RecalldError } from "../../errors.js";
import { mapBounded, partsOf } from "./bounded.js";
import { allOf, filtersOf } from "./filters.js";
import { type Found, itemOf, UNINDEXED } from "./items.js";
import { idOf, nameOf } from "./names.js";
import { type Space, type Store, spacesWithin } from "./spaces.js";

/** Keys that one list is asked for: a filter has 65,536 bytes at most. */
const KEYS_MAX = 100;
const PAGE_SIZE = 100;
/** Results that one recall gives. */
const TOP_MAX = 20;
/** Farthest result of a search by meaning: further recalls leave out the ids that came before, of which a filter takes 256. */
const RANKED_MAX = 256;
/** Most namespaces that a search by meaning recalls from: each is a call. */
const RANKED_NAMESPACES_MAX = 100;

/** Reads items of one namespace by their keys. */
export async function readItems({ recalld, root }: Store, path: readonly string[], keys: readonly string[]) {
  const items = new Map<string, Item>();
  const namespace = nameOf(root, path);
  for (const part of partsOf([...new Set(keys.map(idOf))], KEYS_MAX)) {
    const filter = { $external_id: { $in: part } };
    for await (const memory of recalld.memories({ namespace, filter, pageSize: PAGE_SIZE })) {
      const item = itemOf(path, memory);
      if (item !== undefined) items.set(item.key, item);
    }
  }
  return items;
}

/** Runs operations that read items, with one list for all keys of a namespace. */
export async function readAll(store: Store, operations: readonly GetOperation[]): Promise<(Item | null)[]> {
  const keys = new Map<string, { path: readonly string[]; keys: string[] }>();
  for (const { namespace, key } of operations) {
    const name = nameOf(store.root, namespace);
    const those = keys.get(name) ?? { path: namespace, keys: [] };
    keys.set(name, { ...those, keys: [...those.keys, key] });
  }
  const read = await mapBounded([...keys], async ([name, those]) => {
    return [name, await readItems(store, those.path, those.keys)] as const;
  });
  const items = new Map(read);
  return operations.map(({ namespace, key }) => items.get(nameOf(store.root, namespace))?.get(key) ?? null);
}

/** Finds items: those whose texts are nearest to a query, or without one all that match, the oldest first. */
export async function search(store: Store, operation: SearchOperation): Promise<SearchItem[]> {
  const { namespacePrefix, filter, limit = 10, offset = 0, query } = operation;
  const end = offset + limit;
  if (limit <= 0) return [];
  if (query && end > RANKED_MAX) throw beyond("limit", `limit and offset are ${end} together`, RANKED_MAX);
  const spaces = await spacesWithin(store, namespacePrefix);
  const filters = [{ $external_id: { $exists: true } }, ...filtersOf(filter)];
  if (!query) return listItems(store, { spaces, filters, offset, limit });
  if (spaces.length > RANKED_NAMESPACES_MAX) {
    throw beyond("namespacePrefix", `the query is for ${spaces.length} namespaces`, RANKED_NAMESPACES_MAX);
  }
  const ranked = await rank(store, { spaces, filters, query, end });
  const page = ranked.slice(offset, end);
  if (page.length === limit) return page;
  // What no query finds comes last, without a score.
  const unindexed = [...filters, { [UNINDEXED]: true }];
  const rest = { offset: Math.max(0, offset - ranked.length), limit: limit - page.length };
  return [...page, ...(await listItems(store, { spaces, filters: unindexed, ...rest }))];
}

interface Wanted {
  readonly spaces: readonly Space[];
  readonly filters: Metadata[];
}

async function listItems(
  { recalld }: Store,
  { spaces, filters, offset, limit }: Wanted & { offset: number; limit: number },
): Promise<SearchItem[]> {
  const items: SearchItem[] = [];
  let passed = 0;
  for (const { name: namespace, path } of spaces) {
    const pageSize = Math.min(PAGE_SIZE, offset + limit - passed);
    const list = { namespace, filter: allOf(filters), order: "OLDEST_FIRST", pageSize } as const;
    for await (const memory of recalld.memories(list)) {
      const item = itemOf(path, memory);
      if (item === undefined || passed++ < offset) continue;
      items.push(item);
      if (items.length === limit) return items;
    }
  }
  return items;
}

async function rank(store: Store, { spaces, ...wanted }: Wanted & { query: string; end: number }) {
  const found = await mapBounded(spaces, (space) => rankIn(store, space, wanted));
  return found.flat().sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
}

async function rankIn(
  { recalld }: Store,
  { name: namespace, path }: Space,
  { filters, query, end }: Omit<Wanted, "spaces"> & { query: string; end: number },
): Promise<SearchItem[]> {
  const items: SearchItem[] = [];
  const seen: string[] = [];
  while (items.length < end && seen.length < RANKED_MAX) {
    const topK = Math.min(TOP_MAX, end - items.length);
    const others = seen.length === 0 ? [] : [{ $id: { $nin: seen } }];
    const filter = allOf([...filters, { [UNINDEXED]: { $exists: false } }, ...others]);
    const { results } = await recalld.recall({ namespace, query, topK, filter, mode: "COSINE" });
    for (const { id, score, ...memory } of results) {
      seen.push(id);
      const item = itemOf(path, memory as Found);
      if (item !== undefined) items.push({ ...item, score });
    }
    if (results.length < topK) break;
  }
  return items;
}

function beyond(field: string, what: string, most: number): RecalldError {
  return new RecalldError("out_of_range", `${what}; a search by meaning has at most ${most}`, { field });
}
