import { useMutation } from "@connectrpc/connect-query";
import type { FormEvent } from "react";
import { memories, RecallRequest_Mode } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { LanguageHint } from "../parts/language-hint";
import { refresh } from "../session/refresh";
import { AsCurl } from "./as-curl";
import { useKept } from "./kept";
import { Results } from "./results";
import { useTimed } from "./timed";

export interface RecallPanelProps {
  readonly namespace: string;
  /** Ids of memories that were deleted since they were recalled. */
  readonly deleted: readonly string[];
}

export function RecallPanel({ namespace, deleted }: RecallPanelProps) {
  const [query, setQuery] = useKept("query", "");
  const [topK, setTopK] = useKept("topK", 5);
  const [byWords, setByWords] = useKept("byWords", true);
  const { ms, timed } = useTimed();
  const recall = useMutation(memories.recall, {
    onSuccess: () => refresh("account", "usage"),
    onSettled: timed.end,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    timed.start();
    const mode = byWords ? RecallRequest_Mode.HYBRID : RecallRequest_Mode.COSINE;
    recall.mutate({ query, namespace, topK, mode, explain: byWords });
  };
  const { data, variables } = recall;
  const asked = variables?.query ?? "";
  return (
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
        <div className="actions">
          <button type="submit" className="button-main" disabled={recall.isPending}>
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
          <label className="inline">
            <input type="checkbox" checked={byWords} onChange={(event) => setByWords(event.target.checked)} />
            by words as well
          </label>
        </div>
      </form>
      <ErrorNote error={recall.error} />
      <div aria-live="polite" className="stack">
        {data && (
          <p className="hint">
            {counted(data.results.length, "result")} · {ms} ms round trip ·{" "}
            {counted(data.queryTokens, "query token")}
          </p>
        )}
        {data && <Results {...{ deleted, query: asked }} results={data.results} namespace={data.namespace} />}
      </div>
      <AsCurl
        path="/recall"
        body={{
          ...{ query: query || "…", namespace, top_k: topK },
          ...(byWords && { mode: "HYBRID", explain: true }),
        }}
      />
    </section>
  );
}
