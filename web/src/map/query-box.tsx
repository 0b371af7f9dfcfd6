import { type FormEvent, useState } from "react";
import type { RecallResult } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { excerpt } from "../playground/excerpt";
import { Score } from "../playground/results";
import { useStrongScore } from "../session/model";

export interface QueryBoxProps {
  /** Results of the last query; absent before the first one. */
  readonly results: readonly RecallResult[] | undefined;
  readonly error: unknown;
  readonly busy: boolean;
  readonly selected: string | undefined;
  onAsk(query: string): void;
  onClear(): void;
  onSelect(id: string): void;
}

/** Recalls memories so that the map can highlight them. */
export function QueryBox({ results, error, busy, selected, onAsk, onClear, onSelect }: QueryBoxProps) {
  const [query, setQuery] = useState("");
  const [asked, setAsked] = useState("");
  const strong = useStrongScore(asked);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(query);
    onAsk(query);
  };
  return (
    <section className="card stack" aria-label="Light up by meaning">
      <form method="post" className="stack" onSubmit={submit}>
        <div className="field">
          <label htmlFor="map-query">Light up by meaning</label>
          <input
            id="map-query"
            required
            dir="auto"
            autoComplete="off"
            placeholder="Ask in plain words"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
          />
          <p className="hint">Each search costs one call.</p>
        </div>
        <div className="actions">
          <button type="submit" className="button-main" disabled={busy}>
            Light up
          </button>
          {results && (
            <button type="button" onClick={onClear}>
              Clear
            </button>
          )}
        </div>
      </form>
      <ErrorNote error={error} />
      <p className="unseen" role="status">
        {results && counted(results.length, "result")}
      </p>
      {results && (
        <ol className="results results-small">
          {results.map((result) => (
            <li key={result.id} data-selected={result.id === selected}>
              <Score score={result.score} strong={strong} />
              <button type="button" className="result-text" dir="auto" onClick={() => onSelect(result.id)}>
                {excerpt(result)}
              </button>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
