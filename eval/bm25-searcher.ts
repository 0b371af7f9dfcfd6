import { Bm25Index } from "./bm25.js";
import type { Pair } from "./pair-set.js";
import type { Row } from "./retrieval-set.js";
import { HITS_MAX, type Hit, type OnProgress, type Placed, type Searcher } from "./searcher.js";

interface Union {
  readonly rows: readonly Row[];
  readonly index: Bm25Index;
}

/** Searches the same rows by words alone, in this process. */
export class Bm25Searcher implements Searcher {
  readonly #namespaces = new Map<string, Row[]>();
  readonly #unions = new Map<string, Union>();

  async store(rows: readonly Placed[], onProgress: OnProgress): Promise<number> {
    this.#namespaces.clear();
    this.#unions.clear();
    for (const { namespace, row } of rows) {
      const others = this.#namespaces.get(namespace);
      if (others === undefined) this.#namespaces.set(namespace, [row]);
      else others.push(row);
    }
    onProgress(rows.length);
    return 0;
  }

  /**
   * Word frequencies are counted over everything that is searched, because scores of several indexes do not
   * compare.
   */
  async search(namespaces: readonly string[], text: string): Promise<Hit[]> {
    const { rows, index } = this.#union(namespaces);
    const scores = index.scores(text);
    return Array.from(rows, (row, i) => ({ row, score: scores[i] as number }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, HITS_MAX);
  }

  async similarities(_set: string, pairs: readonly Pair[], onProgress: OnProgress) {
    const index = new Bm25Index(pairs.map(({ sentence2 }) => sentence2));
    const scores = pairs.map(({ sentence1 }, i) => index.scores(sentence1)[i]);
    onProgress(pairs.length);
    return scores;
  }

  async close(): Promise<void> {}

  #union(namespaces: readonly string[]): Union {
    const key = JSON.stringify(namespaces);
    const known = this.#unions.get(key);
    if (known !== undefined) return known;
    const rows = namespaces.flatMap((namespace) => this.#namespaces.get(namespace) ?? []);
    const union = { rows, index: new Bm25Index(rows.map(({ text }) => text)) };
    this.#unions.set(key, union);
    return union;
  }
}
