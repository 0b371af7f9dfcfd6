/**
 * English words that say little about a text, and what a contraction leaves when it is split: `don't` becomes
 * `don` and `t`.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a an the this that these those some any each such other another same own only both more most much many",
    "i me my you your he him his himself she her we our us they them their it its",
    "who whom what which where when why how",
    "am is are was were be been being have has had having do does did doing",
    "can could will would shall should may might must",
    "and or but if because as than while so not no nor",
    "of at by for with about against between into through during before after above below to from",
    "up down in out on off over under",
    "here there now then also just very too",
    "s t d ll m re ve don didn doesn isn aren wasn weren hasn haven hadn couldn wouldn shouldn won",
  ].flatMap((words) => words.split(" ")),
);
