import { randomUUID } from "node:crypto";
import { type Client, Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AccountService } from "../gen/recalld/v1/account_pb.js";
import { MemoryService, RecallRequest_Mode } from "../gen/recalld/v1/memory_pb.js";
import { startServer, type TestServer } from "../test/support/server.js";
import { inParallel } from "./in-parallel.js";
import type { Pair } from "./pair-set.js";
import { patiently } from "./patiently.js";
import type { Row } from "./retrieval-set.js";
import { HITS_MAX, type Hit, type OnProgress, type Placed, type Searcher } from "./searcher.js";

/** Maximum duration of a call of the service. */
const CALL_TIMEOUT_MS = 60_000;
/**
 * Timeout of a connection, shorter than the service's own: BM25 blocks this process for seconds, in which it
 * would not notice the service's close, and calls would be lost.
 */
const IDLE_TIMEOUT_MS = 30_000;

export interface Model {
  readonly model: string;
  readonly modelsDir: string;
  readonly workers: number;
}

/** Runs the real program with an empty embedded database and calls it as any client does. */
export class Recalld implements Searcher {
  readonly #rows = new Map<string, Row>();
  /** Number of rows of the last `store` that were refused. */
  #refused = 0;

  private constructor(
    private readonly server: TestServer,
    private readonly memories: Client<typeof MemoryService>,
    /** Hash of the model's files. */
    readonly revision: string,
  ) {}

  static async open({ model, modelsDir, workers }: Model): Promise<Recalld> {
    const server = await startServer({
      env: {
        MODEL: model,
        MODELS_DIR: modelsDir,
        EMBED_WORKERS: String(workers),
        FREE_CALLS: "1000000000",
        LOG_LEVEL: "warn",
      },
    });
    const { apiKey } = await createClient(AccountService, transportTo(server)).signUp({});
    const withKey: Interceptor = (next) => (request) => {
      request.header.set("authorization", `Bearer ${apiKey}`);
      return next(request);
    };
    const memories = createClient(MemoryService, transportTo(server, withKey));
    const revision = /revision (\w+)/.exec(server.output())?.[1] ?? "unknown";
    return new Recalld(server, memories, revision);
  }

  /** The same server and memories, recalled by meaning and words. */
  hybrid(): Searcher {
    return {
      store: async () => this.#refused,
      search: (namespaces, text) => this.#search(namespaces, text, RecallRequest_Mode.HYBRID),
      close: async () => {},
    };
  }

  async store(rows: readonly Placed[], onProgress: OnProgress): Promise<number> {
    const refused = await inParallel(rows, (placed) => this.#store(placed), onProgress);
    this.#refused = refused.filter(Boolean).length;
    return this.#refused;
  }

  search(namespaces: readonly string[], text: string): Promise<Hit[]> {
    return this.#search(namespaces, text, RecallRequest_Mode.COSINE);
  }

  async #search(namespaces: readonly string[], query: string, mode: RecallRequest_Mode): Promise<Hit[]> {
    const found: (Hit & { rank: number })[] = [];
    for (const namespace of namespaces) {
      const asked = { namespace, query, mode, topK: HITS_MAX, explain: true };
      const { results } = await patiently(() => this.memories.recall(asked));
      for (const { id, score, words, explanation } of results) {
        const row = this.#rows.get(id) as Row;
        const { rank = 0, weight = 0 } = explanation ?? {};
        found.push({ row, score, rank, ...(words !== undefined && { words, weight }) });
      }
    }
    return found.sort((a, b) => b.rank - a.rank).slice(0, HITS_MAX);
  }

  /**
   * Scores pairs: one text is stored, the other recalls it. A recall returns up to twenty memories with their
   * scores and leaves none out for a low one, so twenty pairs share a namespace.
   */
  async similarities(set: string, pairs: readonly Pair[], onProgress: OnProgress) {
    const placed = pairs.map(({ id, sentence2 }, i) => ({
      namespace: `${set} ${Math.floor(i / HITS_MAX)}`,
      row: { id, text: sentence2 },
    }));
    await this.store(placed, (done) => onProgress(done / 2));
    const score = async (i: number) => {
      const hits = await this.search([placed[i]?.namespace as string], pairs[i]?.sentence1 as string);
      return hits.find(({ row }) => row === placed[i]?.row)?.score;
    };
    const numbers = Array.from(pairs.keys());
    return inParallel(numbers, score, (done) => onProgress((pairs.length + done) / 2));
  }

  async close(): Promise<void> {
    const code = await this.server.stop();
    if (code !== 0) throw new Error(`the server ended with ${code}:\n${this.server.output()}`);
  }

  /** Stores a row and returns whether it was refused. */
  async #store({ namespace, row }: Placed): Promise<boolean> {
    try {
      // The key prevents that a row whose answer was lost is stored twice.
      const headers = { "idempotency-key": randomUUID() };
      const { id } = await patiently(() => this.memories.store({ namespace, text: row.text }, { headers }));
      this.#rows.set(id, row);
      return false;
    } catch (error) {
      if (ConnectError.from(error).code === Code.InvalidArgument) return true;
      throw error;
    }
  }
}

function transportTo({ url }: TestServer, ...interceptors: Interceptor[]) {
  return createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors,
    defaultTimeoutMs: CALL_TIMEOUT_MS,
    idleConnectionTimeoutMs: IDLE_TIMEOUT_MS,
  });
}
