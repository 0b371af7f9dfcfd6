import { call, type Input, type Output } from "./call.js";
import type {
  CountMemoriesRequest,
  DeleteMemoryResponse,
  ExportMemoriesRequest,
  ListMemoriesRequest,
  ListMemoriesResponse,
  ListNamespacesRequest,
  ListNamespacesResponse,
  Memory,
  Methods,
  Namespace,
  WatchNamespaceRequest,
} from "./contract.js";
import { RecalldError } from "./errors.js";
import { Export } from "./export.js";
import { type CallOptions, type RecalldOptions, settle } from "./options.js";
import { Pages } from "./pages.js";
import { type WatchEvent, type WatchOptions, watch } from "./watch.js";

/** Calls about memories and namespaces. */
export class MemoryCalls {
  readonly #options: RecalldOptions;

  constructor(options: RecalldOptions) {
    this.#options = options;
  }

  /** Stores one memory. Sent again by the client or under the same `idempotencyKey`, it is stored once. */
  store(request: Input<"Store">, options?: CallOptions): Output<"Store"> {
    return this.#call("Store", request, options);
  }

  /** Stores up to 256 memories of one namespace; each has a result of its own. */
  storeBatch(request: Input<"StoreBatch">, options?: CallOptions): Output<"StoreBatch"> {
    return this.#call("StoreBatch", request, options);
  }

  /** Finds the memories of a namespace that are nearest to the query. */
  recall(request: Input<"Recall">, options?: CallOptions): Output<"Recall"> {
    return this.#call("Recall", request, options);
  }

  /** Reads one memory. */
  get(request: Input<"GetMemory">, options?: CallOptions): Output<"GetMemory"> {
    return this.#call("GetMemory", request, options);
  }

  /** Reads up to 256 memories. Ask again for the ids in `remaining`. */
  getMemories(request: Input<"GetMemories">, options?: CallOptions): Output<"GetMemories"> {
    return this.#call("GetMemories", request, options);
  }

  /** Updates a memory's text, its metadata or when it expires. */
  update(request: Input<"UpdateMemory">, options?: CallOptions): Output<"UpdateMemory"> {
    return this.#call("UpdateMemory", request, options);
  }

  /** Forgets one memory. A memory that is gone once an earlier attempt's answer was lost is no error. */
  async delete(request: Input<"DeleteMemory">, options?: CallOptions): Output<"DeleteMemory"> {
    try {
      return await this.#call("DeleteMemory", request, options);
    } catch (error) {
      if (!(error instanceof RecalldError) || error.code !== "not_found" || error.attempts === 1) throw error;
      const answer: DeleteMemoryResponse = { id: request.id };
      return { ...answer, requestId: error.requestId ?? "", replayed: true };
    }
  }

  /** Forgets up to 256 memories. */
  deleteMemories(request: Input<"DeleteMemories">, options?: CallOptions): Output<"DeleteMemories"> {
    return this.#call("DeleteMemories", request, options);
  }

  /** Changes the metadata of up to 256 memories. */
  updateMemories(request: Input<"UpdateMemories">, options?: CallOptions): Output<"UpdateMemories"> {
    return this.#call("UpdateMemories", request, options);
  }

  /** Drops a namespace with all that it holds. After a lost answer, the next attempt's is `not_found`. */
  deleteNamespace(request: Input<"DeleteNamespace">, options?: CallOptions): Output<"DeleteNamespace"> {
    return this.#call("DeleteNamespace", request, options);
  }

  /** Drops up to 100 namespaces whose names begin with a prefix. Ask again while the answer has `more`. */
  deleteNamespaces(request: Input<"DeleteNamespaces">, options?: CallOptions): Output<"DeleteNamespaces"> {
    return this.#call("DeleteNamespaces", request, options);
  }

  /** Gets what one namespace holds. */
  getNamespace(request: Input<"GetNamespace">, options?: CallOptions): Output<"GetNamespace"> {
    return this.#call("GetNamespace", request, options);
  }

  /** Counts a namespace's memories. */
  count(request: CountMemoriesRequest, options?: CallOptions): Output<"CountMemories"> {
    return this.#call("CountMemories", request, options);
  }

  /** Lists the account's namespaces: `for await (const { namespace } of recalld.namespaces())`. */
  namespaces(
    request: ListNamespacesRequest = {},
    options?: CallOptions,
  ): Pages<Namespace, ListNamespacesResponse> {
    const read = (pageToken: string) =>
      this.#call("ListNamespaces", { ...request, pageToken: pageToken || request.pageToken }, options);
    return new Pages(read, ({ namespaces }) => namespaces);
  }

  /** Lists a namespace's memories: `for await (const { text } of recalld.memories({ namespace }))`. */
  memories(request: ListMemoriesRequest, options?: CallOptions): Pages<Memory, ListMemoriesResponse> {
    const read = (pageToken: string) =>
      this.#call("ListMemories", { ...request, pageToken: pageToken || request.pageToken }, options);
    return new Pages(read, ({ memories }) => memories);
  }

  /**
   * Yields every change of a namespace for as long as it is iterated over. The first event is a heartbeat:
   * what is stored after it will be told. A connection that breaks is made again, after the last event.
   */
  watch(
    request: WatchNamespaceRequest,
    { giveUpAfterMs, ...options }: WatchOptions = {},
  ): AsyncGenerator<WatchEvent, void, undefined> {
    return watch(request, settle(this.#options, options), giveUpAfterMs);
  }

  /** Reads a namespace as of one position: its memories, or the lines of a file with them. */
  export(request: ExportMemoriesRequest, options?: CallOptions): Export {
    return new Export(request, settle(this.#options, options));
  }

  async #call<M extends keyof Methods>(method: M, request: Input<M>, options?: CallOptions): Output<M> {
    return call(method, request, settle(this.#options, options));
  }
}
