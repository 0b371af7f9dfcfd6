import type { Among } from "../../../memory/ports/among.js";
import type { Hit } from "../../../memory/ports/index.js";
import { searchDistinct } from "../distinct.js";
import type { ExpansionTuner } from "../expansion-tuner.js";
import { nearestInTail } from "../nearest-in-tail.js";
import type { Segment } from "../segment.js";
import type { Segments } from "../segments.js";
import type { Tail } from "../tail.js";
import { type FilteredBy, searchFiltered } from "./filtered.js";

/** Maximum number of times that a search begins anew because a segment's files were replaced. */
const TRIES_MAX = 3;

export interface AmongSearchOptions extends FilteredBy {
  readonly tail: Tail;
  readonly segments: Segments;
  readonly tuner: ExpansionTuner;
}

interface Asked {
  readonly among: Among;
  readonly limit: number;
}

/** Finds the nearest of some memories in an index. */
export class AmongSearch {
  constructor(private readonly options: AmongSearchOptions) {}

  /** Finds a few vectors of each of the `limit` nearest, best first; `depthMax` is the number of all vectors. */
  async search(
    vector: Float32Array,
    { among, depthMax, ...asked }: Asked & { readonly depthMax: number },
  ): Promise<Hit[]> {
    const limit = Math.min(asked.limit, among.size);
    if (limit === 0) return [];
    return searchDistinct({ limit, depthMax }, async (count) => {
      const hits = await this.#nearest(vector, { among, limit, count });
      return { hits: hits.sort((a, b) => b.similarity - a.similarity), all: hits.length < count };
    });
  }

  async #nearest(vector: Float32Array, asked: Asked & { readonly count: number }): Promise<Hit[]> {
    const { segments: index, tuner } = this.options;
    for (let tries = 1; ; tries++) {
      let searched: readonly Segment[] = [];
      try {
        return await index.reading(async (segments) => {
          searched = segments;
          // All of one moment: what is sealed meanwhile is found where it was.
          const tail = await nearestInTail(this.options.tail.chunks, { ...asked, vector });
          const living = segments.filter((segment) => segment.vectors > 0);
          const expansion = tuner.expansionIn(living.map(({ vectors }) => vectors));
          return searchFiltered(this.options, { ...asked, vector, tail, expansion, segments: living });
        });
      } catch (error) {
        // A segment whose files were replaced is found where it is now.
        if (tries === TRIES_MAX || index.all === searched) throw error;
      }
    }
  }
}
