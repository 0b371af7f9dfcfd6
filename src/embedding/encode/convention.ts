import type { ModelIdentity } from "../../memory/ports/embedder.js";

/**
 * Ways to get one vector for a text: the mean of its tokens' states, the state of the first or of the
 * last one, or the vector that the model itself outputs.
 */
export const POOLINGS = ["mean", "cls", "last", "model"] as const;
export type Pooling = (typeof POOLINGS)[number];

/** Describes how a model was trained to be read. Another convention gives vectors too, but worse ones. */
export interface Convention {
  readonly pooling: Pooling;
  /** Prefixes of a query and of a stored text. */
  readonly queryPrefix: string;
  readonly passagePrefix: string;
  /** Maximum number of tokens it reads at once, including special tokens and the prefix. */
  readonly windowTokens?: number;
}

/** Default convention, that of MiniLM and of the bundled model. */
export const PLAIN: Convention = { pooling: "mean", queryPrefix: "", passagePrefix: "" };

/**
 * Returns the parts of the convention on which stored vectors depend; defaults are left out, because
 * databases that began with them do not name them.
 */
export function pinnedParts({
  pooling,
  passagePrefix,
}: Convention): Pick<ModelIdentity, "pooling" | "passagePrefix"> {
  return { ...(pooling !== PLAIN.pooling && { pooling }), ...(passagePrefix !== "" && { passagePrefix }) };
}
