import { useQuery } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { memories, RecallRequest_Mode, type RecallResult } from "../../api";
import { ErrorNote } from "../../errors";
import { ago, counted } from "../../format";
import { LanguageHint } from "../../parts/language-hint";
import { Loading } from "../../parts/page";
import { excerpt, isPart } from "../../playground/excerpt";
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

/** Shows what a question recalls, with what meaning and what words have contributed. */
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
    { staleTime: Number.POSITIVE_INFINITY, retry: false, refetchOnReconnect: false },
  );
  useEffect(() => {
    if (data) refresh("account", "usage");
  }, [data]);
  const results = data?.results.filter(({ id }) => !deleted.includes(id)) ?? [];
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
      {results.length > 0 && (
        <section className="card card-flush">
          <div className="found-head" aria-hidden="true">
            <span>Memory</span>
            <div className="found-shares">
              <span>Meaning</span>
              <span>Words</span>
            </div>
          </div>
          <ol className="found" onKeyDown={moveAmong}>
            {results.map((result) => (
              <Result key={result.id} result={result} onOpen={onOpen} />
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function Result({ result, onOpen }: { result: RecallResult; onOpen(id: string): void }) {
  const { id, score, words = 0, explanation, createdAt } = result;
  const { weight = 0, matched = [] } = explanation ?? {};
  const added = weight * words;
  return (
    <li>
      <button type="button" className="row" onClick={() => onOpen(id)}>
        <span className="row-text" dir="auto">
          {excerpt(result)}
        </span>
        <span className="row-facts">
          {isPart(result) && "part of a longer memory · "}
          {ago(createdAt)}
        </span>
      </button>
      <div className="found-shares">
        <ShareBar what="meaning" share={score} text={score.toFixed(3)} />
        <ShareBar
          what="words"
          share={added}
          text={matched.length > 0 ? `+${added.toFixed(3)} ${matched.join(", ")}` : "none in common"}
        />
      </div>
    </li>
  );
}

function ShareBar({ what, share, text }: { what: string; share: number; text: string }) {
  return (
    <div className="found-share">
      <div className="words-bar" data-what={what} aria-hidden="true">
        <div style={{ inlineSize: `${Math.min(share, 1) * 100}%` }} />
      </div>
      <span>
        <span className="unseen">by {what}: </span>
        {text}
      </span>
    </div>
  );
}
