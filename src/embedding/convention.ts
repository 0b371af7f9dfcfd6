/** How a model was trained to be read: another way gives vectors too, but worse ones. */
export interface Convention {
  /** What stands for the whole text: the mean of its tokens' states, the first one's or the last one's. */
  readonly pooling: "mean" | "cls" | "last";
  /** Put in front of what is asked, and of what is stored. */
  readonly queryPrefix: string;
  readonly passagePrefix: string;
}

/** Of sentence-transformers' models such as MiniLM, and of the bundled one. */
export const PLAIN: Convention = { pooling: "mean", queryPrefix: "", passagePrefix: "" };
