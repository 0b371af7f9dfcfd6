import {
  BaseStore,
  type GetOperation,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
  validateNamespace,
} from "@langchain/langgraph-checkpoint";
import type { Recalld } from "../client.js";
import { mapBounded } from "./langgraph/bounded.js";
import { readAll, search } from "./langgraph/read.js";
import { pathsThat, type Store } from "./langgraph/spaces.js";
import { writeAll } from "./langgraph/write.js";

export interface RecalldStoreOptions {
  /** First part of the names of the store's namespaces, `langgraph` when left out; empty means none. */
  readonly root?: string | undefined;
  /** Paths of the fields whose texts queries find, as LangGraph writes them; the whole value, `["$"]`, when left out. */
  readonly fields?: readonly string[] | undefined;
}

const ROOT = "langgraph";
const WHOLE_VALUE = ["$"];

/**
 * LangGraph's store over recalld. It answers as InMemoryStore with an index does: the namespace `["users",
 * "42"]` is recalld's `langgraph/users/42`, an item is a memory, its key the external id, and its value the
 * metadata. What recalld refuses is thrown as a RecalldError.
 */
export class RecalldStore extends BaseStore {
  readonly #store: Store;
  readonly #fields: readonly string[];

  constructor(recalld: Recalld, { root = ROOT, fields = WHOLE_VALUE }: RecalldStoreOptions = {}) {
    super();
    this.#store = { recalld, root };
    this.#fields = fields;
  }

  /** Does several operations. What they read is as of before what they write. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    for (const each of operations) check(each);
    const gets = operations.filter(isGet);
    const items = new Map<Operation, unknown>();
    const [got] = await Promise.all([
      readAll(this.#store, gets),
      mapBounded(
        operations.filter((each) => isSearch(each) || isList(each)),
        async (each) => items.set(each, await this.#read(each as SearchOperation | ListNamespacesOperation)),
      ),
    ]);
    for (const [n, each] of gets.entries()) items.set(each, got[n]);
    await writeAll(this.#store, operations.filter(isPut), this.#fields);
    return operations.map((each) => items.get(each) ?? null) as OperationResults<Op>;
  }

  #read(operation: SearchOperation | ListNamespacesOperation): Promise<unknown> {
    return isSearch(operation) ? search(this.#store, operation) : this.#paths(operation);
  }

  async #paths({
    matchConditions = [],
    maxDepth,
    limit,
    offset,
  }: ListNamespacesOperation): Promise<string[][]> {
    const found = await pathsThat(this.#store, matchConditions);
    const paths = new Map(
      found.map((path) => path.slice(0, maxDepth)).map((path) => [JSON.stringify(path), path]),
    );
    const sorted = [...paths.values()].sort((a, b) => a.join(":").localeCompare(b.join(":")));
    return sorted.slice(offset ?? 0, (offset ?? 0) + (limit ?? sorted.length));
  }
}

function isSearch(operation: Operation): operation is SearchOperation {
  return "namespacePrefix" in operation;
}

function isPut(operation: Operation): operation is PutOperation {
  return "value" in operation;
}

function isGet(operation: Operation): operation is GetOperation {
  return "key" in operation && !isPut(operation);
}

function isList(operation: Operation): operation is ListNamespacesOperation {
  return !isSearch(operation) && !("key" in operation);
}

/** Checks what the store's methods check, because batches come without them. */
function check(operation: Operation): void {
  if ("namespace" in operation) validateNamespace(operation.namespace, { allowReservedRoot: true });
  if (!isSearch(operation)) return;
  validateNamespace(operation.namespacePrefix, { allowEmpty: true, allowReservedRoot: true });
}
