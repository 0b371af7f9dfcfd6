import { useState } from "react";
import { type RecallResult, STRONG_MATCH } from "../api";
import { ago } from "../format";
import { OpenMemory } from "../memories/open-memory";
import { excerpt, isPart } from "./excerpt";

/** Lists recalled memories, best first, each with a bar for its score. */
export function Results({ results, namespace }: { results: readonly RecallResult[]; namespace: string }) {
  const [opened, setOpened] = useState<string>();
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const left = results.filter(({ id }) => !deleted.includes(id));
  if (results.length === 0) return <p className="quiet">This namespace holds no memories.</p>;
  return (
    <>
      <ol className="results">
        {left.map((result) => (
          <li key={result.id} data-strong={result.score > STRONG_MATCH}>
            <Score score={result.score} />
            <button type="button" className="result-text" onClick={() => setOpened(result.id)}>
              {excerpt(result)}
            </button>
            <p className="hint">
              {isPart(result) && "matching part of a longer memory · "}
              {result.score > STRONG_MATCH && <span className="badge badge-good">strong match</span>}{" "}
              {ago(result.createdAt)}
            </p>
          </li>
        ))}
      </ol>
      {opened && (
        <OpenMemory
          namespace={namespace}
          id={opened}
          onDeleted={() => setDeleted([...deleted, opened])}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}

export function Score({ score }: { score: number }) {
  return (
    <div className="score">
      <div className="score-bar" aria-hidden="true">
        <div style={{ inlineSize: `${score * 100}%` }} />
      </div>
      <span className="mono">
        <span className="unseen">score </span>
        {score}
      </span>
    </div>
  );
}
