import { byteLengthOf } from "../../ports/bounds.js";
import type { Projected } from "../../ports/log.js";
import { METADATA_BYTES_MAX } from "../../requests/metadata.js";
import { TEXT_BYTES_MAX } from "../../requests/text.js";
import { TOP_K_MAX } from "../../requests/top-k.js";

/** Bytes of the texts and metadata of an answer. So many plain results fit, however long they are. */
export const RECALL_BYTES_MAX = TOP_K_MAX * (TEXT_BYTES_MAX + METADATA_BYTES_MAX);

/** What an answer still has room for, in tokens of texts and in bytes of texts and metadata. */
export class AnswerBudget {
  #tokens = 0;
  #bytes = 0;
  /** True once a memory did not fit: the answer ends before it, even if a later one is shorter. */
  isFull = false;

  /** @param tokensMax undefined for any number */
  constructor(private readonly tokensMax = Number.POSITIVE_INFINITY) {}

  /** Takes a memory in; true if it fits. The first one always does. */
  take(memory: Projected["text"]): boolean {
    if (this.isFull) return false;
    const [tokens, bytes] = [this.#tokens + memory.tokens, this.#bytes + byteLengthOf(memory)];
    this.isFull = this.#bytes > 0 && (tokens > this.tokensMax || bytes > RECALL_BYTES_MAX);
    if (this.isFull) return false;
    [this.#tokens, this.#bytes] = [tokens, bytes];
    return true;
  }
}
