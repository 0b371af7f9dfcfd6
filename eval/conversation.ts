import { Recalld } from "../clients/typescript/src/index.js";
import { signUp } from "../test/clients/sign-up.js";
import { startServer, type TestServer } from "../test/support/server.js";
import { inParallel } from "./in-parallel.js";
import { type Metrics, metricsOf } from "./metrics.js";
import type { Query, RetrievalSet, Row } from "./retrieval-set.js";
import { rowsByScope } from "./sample.js";
import { HITS_MAX } from "./searcher.js";

const BATCH = 128;
const HALF_LIFE = "2592000s";
export const WEIGHTS = [0, 0.05, 0.1, 0.2] as const;
/** Recalls whose answers are compared as a whole: by their number of results, or by a budget of tokens. */
export const ANSWERS = {
  "5 results": { topK: 5 },
  "5 results, 1 before and 1 after": { topK: 5, neighbors: { before: 1, after: 1 } },
  "5 results, 2 before and 2 after": { topK: 5, neighbors: { before: 2, after: 2 } },
  "15 results": { topK: 15 },
  "1,000 tokens": { topK: HITS_MAX, maxTokens: 1000 },
  "1,000 tokens, 1 before and 1 after": {
    topK: HITS_MAX,
    maxTokens: 1000,
    neighbors: { before: 1, after: 1 },
  },
} as const;
export type AnswerId = keyof typeof ANSWERS;

/** What an answer holds, with the memories around its results. */
export interface Holds {
  /** 1 if at least one memory that answers the question is in it. */
  readonly any: number;
  /** Share of the memories that answer it. */
  readonly share: number;
  readonly tokens: number;
}

export interface Asked {
  readonly category: string;
  readonly answers: Readonly<Record<AnswerId, Holds>>;
  /** Metrics by the weight of recency. None where the memories have no dates. */
  readonly byWeight: Readonly<Record<string, Metrics>>;
}

export interface MeasuredSet {
  readonly rows: number;
  readonly refused: number;
  readonly asked: readonly Asked[];
}

type Report = (what: string, done: number, all: number) => void;

/** A server that holds the conversations of a set, a namespace for each, in their own order. */
export class Conversation {
  /** Stored rows by the ids of their memories. */
  readonly #stored = new Map<string, { readonly row: Row; readonly tokens: number }>();
  #refused = 0;

  private constructor(
    private readonly server: TestServer,
    private readonly recalld: Recalld,
    private readonly set: RetrievalSet,
  ) {}

  static async open(set: RetrievalSet): Promise<Conversation> {
    const server = await startServer({ env: { FREE_CALLS: "1000000000", LOG_LEVEL: "warn" } });
    const recalld = new Recalld({ baseUrl: server.url, apiKey: await signUp(server.url) });
    return new Conversation(server, recalld, set);
  }

  async measure(report: Report): Promise<MeasuredSet> {
    const { rows, queries } = this.set;
    const scopes = rowsByScope(rows);
    let stored = 0;
    await inParallel(
      [...scopes],
      async ([scope, all]) => {
        // One batch after the other: neighbors are what was created before and after.
        for (let at = 0; at < all.length; at += BATCH) {
          await this.#store(namespaceOf(scope), all.slice(at, at + BATCH));
          stored += Math.min(BATCH, all.length - at);
          report("stored", stored, rows.length);
        }
      },
      () => {},
    );
    const ends = new Map([...scopes].map(([scope, all]) => [scope, latest(all)]));
    const asked = await inParallel(
      queries.filter(({ answerable }) => answerable),
      (query) => this.#ask(query, ends),
      (done) => report("asked", done, queries.length),
    );
    return { rows: rows.length, refused: this.#refused, asked };
  }

  async close(): Promise<void> {
    await this.server.stop();
  }

  async #store(namespace: string, rows: readonly Row[]): Promise<void> {
    const memories = rows.map(({ text, session = "", date }) => ({
      text,
      metadata: { session },
      ...(date !== undefined && { eventTime: timeOf(date) }),
    }));
    const { results } = await this.recalld.storeBatch({ namespace, memories });
    for (const [i, { stored }] of results.entries()) {
      if (stored === undefined) this.#refused++;
      else this.#stored.set(stored.id, { row: rows[i] as Row, tokens: stored.tokens });
    }
  }

  async #ask(query: Query, ends: ReadonlyMap<string, string | undefined>): Promise<Asked> {
    const [scope = ""] = query.scopes;
    const namespace = namespaceOf(scope);
    const answers: Partial<Record<AnswerId, Holds>> = {};
    for (const [id, options] of Object.entries(ANSWERS)) {
      answers[id as AnswerId] = await this.#answer(query, { namespace, ...options });
    }
    const byWeight: Record<string, Metrics> = {};
    const asked = query.date ?? ends.get(scope);
    const weights = ends.get(scope) === undefined || asked === undefined ? [0] : WEIGHTS;
    for (const weight of weights) {
      byWeight[weight] = metricsOf(query, await this.#found({ query, namespace, weight, asked }));
    }
    return { category: query.category ?? "", answers: answers as Asked["answers"], byWeight };
  }

  async #answer(
    { text, relevant }: Query,
    options: { namespace: string; topK: number; neighbors?: { before: number; after: number } },
  ): Promise<Holds> {
    const { neighbors, ...rest } = options;
    const around = neighbors && { neighbors: { ...neighbors, same: "session" } };
    const { results } = await this.recalld.recall({ query: text, mode: "HYBRID", ...rest, ...around });
    const beside = results.flatMap(({ before, after }) => [
      ...(before?.memories ?? []),
      ...(after?.memories ?? []),
    ]);
    // A memory that is beside two results is in the answer twice, but an agent needs it once.
    const ids = new Set([...results, ...beside].map(({ id }) => id));
    const held = [...ids].flatMap((id) => this.#stored.get(id) ?? []);
    const right = held.filter(({ row }) => relevant.has(row.id)).length;
    const tokens = held.reduce((sum, memory) => sum + memory.tokens, 0);
    return { any: Number(right > 0), share: right / relevant.size, tokens };
  }

  async #found(request: {
    query: Query;
    namespace: string;
    weight: number;
    asked: string | undefined;
  }): Promise<Row[]> {
    const { query, namespace, weight, asked } = request;
    const recency = weight > 0 &&
      asked !== undefined && { recency: { halfLife: HALF_LIFE, weight, referenceTime: timeOf(asked) } };
    const { results } = await this.recalld.recall({
      namespace,
      query: query.text,
      mode: "HYBRID",
      topK: HITS_MAX,
      ...recency,
    });
    return results.map(({ id }) => this.#stored.get(id)?.row as Row);
  }
}

/** A namespace has a name that does not end with a space; a scope may have none. */
function namespaceOf(scope: string): string {
  return `scope:${scope}`;
}

/** The date of the last row, which is when a question without a date is asked. */
function latest(rows: readonly Row[]): string | undefined {
  return rows
    .flatMap(({ date }) => date ?? [])
    .sort()
    .at(-1);
}

function timeOf(date: string): string {
  return `${date}:00Z`;
}
