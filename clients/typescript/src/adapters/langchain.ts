import type { DocumentInterface } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import type { Recalld } from "../client.js";
import type { RecallRequest, RecallResult } from "../contract.js";

/** A recall's namespace, `topK`, `filter`, `mode` and so on; the retriever has the query from its caller. */
type Recall = Omit<RecallRequest, "query" | "fields" | "explain">;

export interface RecalldRetrieverInput extends BaseRetrieverInput, Recall {
  readonly recalld: Recalld;
}

/** LangChain's retriever over recalld: a document is a memory, with its id and its metadata. */
export class RecalldRetriever extends BaseRetriever {
  static override lc_name() {
    return "RecalldRetriever";
  }

  override lc_namespace = ["recalld", "retrievers"];
  readonly #recalld: Recalld;
  readonly #request: Recall;

  constructor({ recalld, callbacks, tags, metadata, verbose, ...request }: RecalldRetrieverInput) {
    super({
      ...(callbacks !== undefined && { callbacks }),
      ...(tags !== undefined && { tags }),
      ...(metadata !== undefined && { metadata }),
      ...(verbose !== undefined && { verbose }),
    });
    this.#recalld = recalld;
    this.#request = request;
  }

  override async _getRelevantDocuments(query: string): Promise<DocumentInterface[]> {
    const { results } = await this.#recalld.recall({ ...this.#request, query });
    return results.map(documentOf);
  }
}

/** Makes the document of a result. What recalld tells of it stands under one key, beside the memory's own. */
function documentOf({ id, text, score, metadata, createdAt }: RecallResult): DocumentInterface {
  return { id, pageContent: text, metadata: { ...metadata, recalld: { score, createdAt } } };
}
