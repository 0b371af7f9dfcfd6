import { useMutation } from "@connectrpc/connect-query";
import type { FormEvent } from "react";
import { RecallRequest_Mode as Mode, memories } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { whileBusy } from "../parts/busy";
import { LanguageHint } from "../parts/language-hint";
import { refresh } from "../session/refresh";
import { useRights } from "../session/rights";
import { AsCurl } from "./as-curl";
import { parseMetadata } from "./metadata";
import { MoreFields } from "./more-fields";
import { LimitFields, ModeChoice, NO_LIMITS } from "./recall-options";
import { bodyOf, NO_MORE, requestOf } from "./recall-request";
import { useRemembered } from "./remembered";
import { Results } from "./results";
import { useTimed } from "./timed";

export interface RecallPanelProps {
  readonly namespace: string;
  /** Ids of memories that were deleted since they were recalled. */
  readonly deleted: readonly string[];
}

/** A form for a recall, and its results as a section of their own. */
export function RecallPanel({ namespace, deleted }: RecallPanelProps) {
  const [query, setQuery] = useRemembered("query", "");
  const [topK, setTopK] = useRemembered("topK", 5);
  const [mode, setMode] = useRemembered<Mode>("mode", Mode.HYBRID);
  const [limits, setLimits] = useRemembered("limits", NO_LIMITS);
  const [more, setMore] = useRemembered("more", NO_MORE);
  const { namespace: only } = useRights();
  const { ms, timed } = useTimed();
  const recall = useMutation(memories.recall, {
    onSuccess: () => refresh("account", "usage"),
    onSettled: timed.end,
  });
  const filter = parseMetadata(limits.filter);
  const form = {
    namespace,
    topK,
    mode,
    limits,
    more,
    filter: typeof filter === "string" ? undefined : filter,
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof filter === "string") return;
    timed.start();
    recall.mutate(requestOf({ ...form, query }));
  };
  const { data, variables } = recall;
  return (
    <>
      <section className="card stack" aria-labelledby="recall">
        <h2 id="recall">Recall</h2>
        <form method="post" className="stack" onSubmit={submit}>
          <div className="field">
            <label htmlFor="query">Question</label>
            <input
              id="query"
              required
              dir="auto"
              autoComplete="off"
              placeholder="What does Ada like to drink?"
              value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
            <LanguageHint text={query} />
          </div>
          <ModeChoice mode={mode} onChange={setMode} />
          <LimitFields limits={limits} mode={mode} filter={filter} onChange={setLimits} />
          <MoreFields more={more} isLimited={only !== undefined} onChange={setMore} />
          <div className="actions">
            <button type="submit" className="button-main" {...whileBusy(recall.isPending)}>
              {recall.isPending ? "Recalling…" : "Recall"}
            </button>
            <label className="inline">
              up to
              <input
                type="number"
                min={1}
                max={20}
                required
                value={topK}
                onChange={(event) => setTopK(event.target.valueAsNumber || 1)}
              />
              results
            </label>
          </div>
        </form>
        <ErrorNote error={recall.error} />
        <AsCurl path="/recall" body={bodyOf(requestOf({ ...form, query: query || "…" }))} />
      </section>
      <div aria-live="polite" className="playground-results">
        {data && (
          <section className="card stack" aria-labelledby="results">
            <div className="quota-head">
              <h2 id="results">Results</h2>
              <span className="hint">
                {counted(data.results.length, "result")} · {ms} ms round trip ·{" "}
                {counted(data.queryTokens, "query token")}
              </span>
            </div>
            <Results
              answer={data}
              deleted={deleted}
              queries={variables?.query ? [variables.query] : (variables?.queries ?? [])}
              mode={variables?.mode ?? mode}
            />
          </section>
        )}
      </div>
    </>
  );
}
