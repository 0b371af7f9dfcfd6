import type { ModelIdentity } from "../../memory/ports/embedder.js";

/**
 * What stands for the whole text: the mean of its tokens' states, the state of the first or of the
 * last one, or the vector that the model itself gives beside them.
 */
export const POOLINGS = ["mean", "cls", "last", "model"] as const;
export type Pooling = (typeof POOLINGS)[number];

/** How a model was trained to be read: another way gives vectors too, but worse ones. */
export interface Convention {
  readonly pooling: Pooling;
  /** Put in front of what is asked, and of what is stored. */
  readonly queryPrefix: string;
  readonly passagePrefix: string;
  /** Tokens it reads at once, the special ones and the prefix counted. */
  readonly windowTokens?: number;
}

/** Of sentence-transformers' models such as MiniLM, and of the bundled one. */
export const PLAIN: Convention = { pooling: "mean", queryPrefix: "", passagePrefix: "" };

/** What of it vectors depend on that are kept. Databases that were begun in the plain way know nothing of it. */
export function pinnedParts({
  pooling,
  passagePrefix,
}: Convention): Pick<ModelIdentity, "pooling" | "passagePrefix"> {
  return { ...(pooling !== PLAIN.pooling && { pooling }), ...(passagePrefix !== "" && { passagePrefix }) };
}
