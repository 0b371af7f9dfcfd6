import type { RecallResult } from "../api";
import { ago } from "../format";
import { openAt } from "../route";
import { isRead, useModel, useStrongScore } from "../session/model";
import { excerpt, isPart } from "./excerpt";

/** Number of words that are named below a score. */
const WORDS_SHOWN = 8;

export interface ResultsProps {
  readonly query: string;
  readonly results: readonly RecallResult[];
  readonly namespace: string;
  readonly deleted: readonly string[];
}

/** Lists recalled memories, best first, each with a bar for its score and one for what its words add. */
export function Results({ query, results, namespace, deleted }: ResultsProps) {
  const model = useModel();
  const strong = useStrongScore(query);
  const isStrong = ({ score, text }: RecallResult) =>
    model !== undefined && strong !== undefined && score > strong && isRead(text, model);
  const left = results.filter(({ id }) => !deleted.includes(id));
  if (results.length === 0) return <p className="quiet">This namespace holds no memories.</p>;
  return (
    <ol className="results">
      {left.map((result, index) => (
        <li key={result.id} data-strong={isStrong(result)}>
          <Score score={result.score} strong={strong} />
          {result.words !== undefined && <Words result={result} />}
          <button
            type="button"
            className="result-text"
            dir="auto"
            onClick={() => openAt("playground", namespace, result.id)}
          >
            {excerpt(result)}
          </button>
          <p className="hint">
            {isPart(result) && "matching part of a longer memory · "}
            {index === 0 && <span className="badge">best</span>}{" "}
            {isStrong(result) && <span className="badge badge-good">strong match</span>}{" "}
            {ago(result.createdAt)}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** Shows what a memory's words add to its score, in the order of results. */
function Words({ result: { words = 0, explanation } }: { result: RecallResult }) {
  const { weight = 0, matched = [] } = explanation ?? {};
  const more = matched.length - WORDS_SHOWN;
  return (
    <div className="score">
      <div className="words-bar" aria-hidden="true">
        <div style={{ inlineSize: `${weight * words * 100}%` }} />
      </div>
      <span className="words-added">
        +{(weight * words).toFixed(2)} by words
        {matched.length > 0 && `: ${matched.slice(0, WORDS_SHOWN).join(", ")}`}
        {more > 0 && ` and ${more} more`}
      </span>
    </div>
  );
}

export interface ScoreProps {
  readonly score: number;
  /** Score above which a match is strong, which the bar marks; undefined if that is unknown. */
  readonly strong: number | undefined;
}

export function Score({ score, strong }: ScoreProps) {
  return (
    <div className="score">
      <div className="score-bar" aria-hidden="true">
        <div style={{ inlineSize: `${(score * 100).toFixed(1)}%` }} />
        {strong !== undefined && (
          <span className="score-mark" style={{ insetInlineStart: `${strong * 100}%` }} />
        )}
      </div>
      <span className="mono">
        <span className="unseen">score </span>
        {score.toFixed(3)}
      </span>
    </div>
  );
}
