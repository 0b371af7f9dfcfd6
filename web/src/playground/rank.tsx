import type { RecallResult } from "../api";

/** Number of words that are named with a result. */
const WORDS_MAX = 8;

export interface RankProps {
  readonly result: Pick<RecallResult, "score" | "words" | "explanation">;
  /** Score above which a match is strong, which the bar marks; undefined if that is unknown. */
  readonly strong: number | undefined;
  /** Rank at the end of the bar, at least 1. */
  readonly scale?: number;
}

/** Shows why a result stands where it does: one bar of what meaning and words give, and both in figures. */
export function Rank({ result, strong, scale = 1 }: RankProps) {
  const { score, words, explanation } = result;
  const added = addedByWords(result);
  const recency = explanation?.recency;
  const share = (rank: number) => `${(Math.min(rank / scale, 1) * 100).toFixed(1)}%`;
  return (
    <div className="rank">
      <div className="rank-bar" aria-hidden="true">
        <div className="rank-meaning" style={{ inlineSize: share(score) }} />
        <div className="rank-words" style={{ inlineSize: share(added) }} />
        {recency !== undefined && <div className="rank-age" style={{ inlineSize: share(recency) }} />}
        {strong !== undefined && <span className="rank-mark" style={{ insetInlineStart: share(strong) }} />}
      </div>
      <p className="hint">
        <span className="unseen">score </span>
        <span className="mono">{score.toFixed(3)}</span>
        {words !== undefined && (
          <>
            {" + "}
            <span className="mono">{added.toFixed(3)}</span> by words{named(explanation?.matched ?? [])}
          </>
        )}
        {recency !== undefined && (
          <>
            {" + "}
            <span className="mono">{recency.toFixed(3)}</span> by age
          </>
        )}
        {explanation?.fit !== undefined && (
          <>
            {" · fit "}
            <span className="mono">{explanation.fit.toFixed(2)}</span>
          </>
        )}
      </p>
    </div>
  );
}

/** What the words that a result shares with the question add to its score, in the order of results. */
function addedByWords({ words = 0, explanation }: RankProps["result"]): number {
  return (explanation?.weight ?? 0) * words;
}

/** Scale on which the bars of all these results fit, with the mark in the same place. */
export function scaleOf(results: readonly RecallResult[]): number {
  return Math.max(
    1,
    ...results.map((result) => result.score + addedByWords(result) + (result.explanation?.recency ?? 0)),
  );
}

function named(words: readonly string[]): string {
  if (words.length === 0) return "";
  const more = words.length - WORDS_MAX;
  return `: ${words.slice(0, WORDS_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

export interface RankLegendProps {
  readonly byWords: boolean;
  readonly byAge?: boolean;
  readonly strong: number | undefined;
}

/** Explains the bars' colours and their mark. */
export function RankLegend({ byWords, byAge = false, strong }: RankLegendProps) {
  return (
    <p className="legend">
      <span className="legend-meaning">Score: meaning, 0 to 1</span>
      {byWords && <span className="legend-words">What words in common add</span>}
      {byAge && <span className="legend-age">What its age adds</span>}
      {strong !== undefined && (
        <span className="legend-mark">Above {strong.toFixed(2)} a match is strong</span>
      )}
    </p>
  );
}
