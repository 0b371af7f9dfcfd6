import { type Memory, RecallRequest_Mode as Mode, type RecallResponse, type RecallResult } from "../api";
import { ago, count, counted, dateTime } from "../format";
import { openAt } from "../route";
import { isRead, useModel, useStrongScore } from "../session/model";
import { excerpt, isPart } from "./excerpt";
import { Rank, RankLegend, scaleOf } from "./rank";

export interface ResultsProps {
  /** The questions, of which most recalls have one. */
  readonly queries: readonly string[];
  readonly mode: Mode;
  readonly answer: RecallResponse;
  readonly deleted: readonly string[];
}

/** Lists recalled memories, best first, each with one bar that explains its place. */
export function Results({ queries, mode, answer, deleted }: ResultsProps) {
  const { results, namespace } = answer;
  const model = useModel();
  const strong = useStrongScore(queries[0] ?? "");
  const isStrong = ({ score, text }: RecallResult) =>
    model !== undefined && strong !== undefined && score > strong && isRead(text, model);
  const left = results.filter(({ id }) => !deleted.includes(id));
  if (results.length === 0) return <Nothing answer={answer} />;
  return (
    <>
      <RankLegend byWords={mode === Mode.HYBRID} byAge={results.some(hasAge)} strong={strong} />
      <ol className="results">
        {left.map((result, index) => (
          <li key={result.id} data-strong={isStrong(result)}>
            <Neighbors label="Before" memories={result.before?.memories} />
            <button
              type="button"
              className="result-text"
              dir="auto"
              onClick={() => openAt("playground", result.namespace ?? namespace, result.id)}
            >
              {excerpt(result)}
            </button>
            <Rank result={result} strong={strong} scale={scaleOf(results)} />
            <p className="hint">
              {isPart(result) && "matching part of a longer memory · "}
              {index === 0 && <span className="badge">best</span>}{" "}
              {isStrong(result) && <span className="badge badge-good">strong match</span>}{" "}
              {result.namespace !== undefined && (
                <>
                  in <bdi>{result.namespace}</bdi> ·{" "}
                </>
              )}
              {result.queryIndex !== undefined && <>for “{queries[result.queryIndex]}” · </>}
              {result.eventTime && <>happened {dateTime(result.eventTime)} · stored </>}
              {ago(result.createdAt)}
            </p>
            <Neighbors label="After" memories={result.after?.memories} />
          </li>
        ))}
      </ol>
      <Omitted answer={answer} />
      {answer.shortened && <p className="hint">More was found than these results may hold.</p>}
    </>
  );
}

function hasAge({ explanation }: RecallResult): boolean {
  return explanation?.recency !== undefined;
}

interface NeighborsProps {
  readonly label: string;
  readonly memories: readonly Memory[] | undefined;
}

/** Shows the memories that were stored just before or after a result. */
function Neighbors({ label, memories = [] }: NeighborsProps) {
  if (memories.length === 0) return null;
  return (
    <ul className="neighbors" aria-label={label}>
      {memories.map(({ id, text }) => (
        <li key={id} dir="auto">
          {text}
        </li>
      ))}
    </ul>
  );
}

/** Explains why there are no results. */
function Nothing({ answer }: { answer: RecallResponse }) {
  const { considered = 0 } = answer;
  if (considered === 0) return <p className="quiet">This namespace holds no memories.</p>;
  return (
    <>
      <p className="quiet">
        None of the {counted(considered, "memory", "memories")} passes the filter and the floors.
      </p>
      <Omitted answer={answer} />
    </>
  );
}

/** Shows what the lowest fit has left out. */
function Omitted({ answer: { omitted } }: { answer: RecallResponse }) {
  if (!omitted || omitted.memories.length === 0) return null;
  const best = Math.max(...omitted.memories.map(({ fit }) => fit));
  return (
    <p className="hint">
      The lowest fit left out {count(omitted.memories.length)}; the best of them has a fit of{" "}
      {best.toFixed(2)}.
    </p>
  );
}
