import type { Input, Output } from "./call.js";
import type { MemoryCalls } from "./calls.js";
import type {
  ExportMemoriesRequest,
  ListMemoriesRequest,
  ListMemoriesResponse,
  Memory,
  StoreItem,
  WatchNamespaceRequest,
} from "./contract.js";
import type { Export } from "./export.js";
import { type CallOptions, invalid } from "./options.js";
import type { Pages } from "./pages.js";
import type { WatchEvent, WatchOptions } from "./watch.js";

/** A request without its namespace. */
type Own<Request> = Omit<Request, "namespace">;

/** The client's calls for one namespace. Where one field is enough, it may stand in place of the request. */
export class NamespaceClient {
  readonly #calls: MemoryCalls;
  /** Name of the namespace. */
  readonly name: string;

  constructor(calls: MemoryCalls, name: string) {
    if (typeof name !== "string" || name === "") throw invalid("namespace", "namespace is missing");
    this.#calls = calls;
    this.name = name;
  }

  /** Stores one memory, given as its text or as a request. */
  store(memory: string | Own<Input<"Store">>, options?: CallOptions): Output<"Store"> {
    return this.#calls.store(this.#bound(typeof memory === "string" ? { text: memory } : memory), options);
  }

  /** Stores up to 256 memories, given as a list or as a request. */
  storeBatch(
    memories: readonly StoreItem[] | Own<Input<"StoreBatch">>,
    options?: CallOptions,
  ): Output<"StoreBatch"> {
    return this.#calls.storeBatch(this.#bound("memories" in memories ? memories : { memories }), options);
  }

  /** Finds the memories that are nearest to a query, given as its text or as a request. */
  recall(query: string | Own<Input<"Recall">>, options?: CallOptions): Output<"Recall"> {
    return this.#calls.recall(this.#bound(typeof query === "string" ? { query } : query), options);
  }

  /** Reads the memory with this id. */
  get(id: string | Own<Input<"GetMemory">>, options?: CallOptions): Output<"GetMemory"> {
    return this.#calls.get(this.#bound(typeof id === "string" ? { id } : id), options);
  }

  /** Reads up to 256 memories, given as a list of ids or as a request. */
  getMemories(
    ids: readonly string[] | Own<Input<"GetMemories">>,
    options?: CallOptions,
  ): Output<"GetMemories"> {
    return this.#calls.getMemories(this.#bound("ids" in ids ? ids : { ids }), options);
  }

  update(request: Own<Input<"UpdateMemory">>, options?: CallOptions): Output<"UpdateMemory"> {
    return this.#calls.update(this.#bound(request), options);
  }

  /** Forgets the memory with this id. */
  delete(id: string | Own<Input<"DeleteMemory">>, options?: CallOptions): Output<"DeleteMemory"> {
    return this.#calls.delete(this.#bound(typeof id === "string" ? { id } : id), options);
  }

  deleteMemories(request: Own<Input<"DeleteMemories">>, options?: CallOptions): Output<"DeleteMemories"> {
    return this.#calls.deleteMemories(this.#bound(request), options);
  }

  updateMemories(request: Own<Input<"UpdateMemories">>, options?: CallOptions): Output<"UpdateMemories"> {
    return this.#calls.updateMemories(this.#bound(request), options);
  }

  deleteNamespace(
    request: Own<Input<"DeleteNamespace">> = {},
    options?: CallOptions,
  ): Output<"DeleteNamespace"> {
    return this.#calls.deleteNamespace(this.#bound(request), options);
  }

  getNamespace(options?: CallOptions): Output<"GetNamespace"> {
    return this.#calls.getNamespace({ namespace: this.name }, options);
  }

  count(request: Own<Input<"CountMemories">> = {}, options?: CallOptions): Output<"CountMemories"> {
    return this.#calls.count(this.#bound(request), options);
  }

  memories(
    request: Own<ListMemoriesRequest> = {},
    options?: CallOptions,
  ): Pages<Memory, ListMemoriesResponse> {
    return this.#calls.memories(this.#bound(request), options);
  }

  watch(
    request: Own<WatchNamespaceRequest> = {},
    options?: WatchOptions,
  ): AsyncGenerator<WatchEvent, void, undefined> {
    return this.#calls.watch(this.#bound(request), options);
  }

  export(request: Own<ExportMemoriesRequest> = {}, options?: CallOptions): Export {
    return this.#calls.export(this.#bound(request), options);
  }

  /** Adds the namespace to a request, also where an untyped caller gave another one. */
  #bound<Request extends object>(request: Request): Request & { readonly namespace: string } {
    return { ...request, namespace: this.name };
  }
}
