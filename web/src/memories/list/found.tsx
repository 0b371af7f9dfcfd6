import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { memories, RecallRequest_Mode, type RecallResult } from "../../api";
import { ErrorNote } from "../../errors";
import { ago, counted, day } from "../../format";
import { LanguageHint } from "../../parts/language-hint";
import { Loading } from "../../parts/page";
import { excerpt, isPart } from "../../playground/excerpt";
import { Rank, RankLegend, type RankProps, scaleOf } from "../../playground/rank";
import { useStrongScore } from "../../session/model";
import { refresh } from "../../session/refresh";
import { moveAmong } from "./keyboard";
import type { Chosen } from "./listing";

const RESULTS_MAX = 20;

export interface FoundProps {
  readonly namespace: string;
  readonly question: string;
  readonly chosen: Chosen;
  /** Ids of memories that were deleted since. */
  readonly deleted: readonly string[];
  onOpen(id: string): void;
}

/** Shows what a question recalls, each with one bar of what meaning and words give. */
export function Found({ namespace, question, chosen, deleted, onOpen }: FoundProps) {
  const { data, error } = useQuery(
    memories.recall,
    {
      namespace,
      query: question,
      topK: RESULTS_MAX,
      mode: RecallRequest_Mode.HYBRID,
      explain: true,
      ...chosen,
    },
    // Each recall costs a call, so none is made unasked.
    { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnReconnect: false, meta: { costs: true } },
  );
  useEffect(() => {
    if (data) refresh("account", "usage");
  }, [data]);
  const results = data?.results.filter(({ id }) => !deleted.includes(id)) ?? [];
  const strong = useStrongScore(question);
  const scale = scaleOf(results);
  return (
    <>
      <LanguageHint text={question} />
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && (
        <p className="hint" role="status">
          {counted(results.length, "result")}, best first
        </p>
      )}
      {results.length > 0 && <RankLegend byWords strong={strong} />}
      {results.length > 0 && (
        <section className="card card-flush">
          <ol className="found" onKeyDown={moveAmong}>
            {results.map((result) => (
              <Result key={result.id} result={result} strong={strong} scale={scale} onOpen={onOpen} />
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

interface ResultProps extends RankProps, Pick<FoundProps, "onOpen"> {
  readonly result: RecallResult;
  readonly scale: number;
}

function Result({ result, strong, scale, onOpen }: ResultProps) {
  return (
    <li>
      <button type="button" className="row" onClick={() => onOpen(result.id)}>
        <span className="row-text" dir="auto">
          {excerpt(result)}
        </span>
        <span className="row-facts">
          {isPart(result) && "part of a longer memory · "}
          {result.eventTime && `happened ${day(result.eventTime)} · stored `}
          {ago(result.createdAt)}
        </span>
      </button>
      <Rank result={result} strong={strong} scale={scale} />
    </li>
  );
}
