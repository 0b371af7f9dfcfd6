import { grouped } from "./known-sets.js";
import type { Results } from "./results.js";
import type { RunRecord } from "./run-record.js";
import { floorsOf } from "./summarize-floors.js";
import { bandsOf, similarityOf, strongOf } from "./summarize-pairs.js";
import { meansOf, retrievalOf } from "./summarize-retrieval.js";

/** Computes the figures of a run. */
export function summarize(run: RunRecord): Results {
  const ids = Object.keys(run.systems);
  const retrieval = Object.entries(run.retrieval).map(([name, record]) => {
    return [name, retrievalOf(record, ids)] as const;
  });
  const pooled = Object.entries(run.pooled).map(
    ([name, record]) => [name, retrievalOf(record, ids)] as const,
  );
  const groups = grouped(Object.keys(run.retrieval));
  const means = [["All sets", groups.flatMap(([, names]) => names)] as const, ...groups].map(
    ([group, names]) =>
      [
        group,
        meansOf(
          names.map((name) => run.retrieval[name]),
          ids,
        ),
      ] as const,
  );
  const sts = Object.entries(run.pairs).filter(([, { kind }]) => kind === "sts");
  const { version, side, queriesMax, systems, pitfalls, languages } = run;
  return {
    version,
    side,
    queriesMax,
    systems,
    retrieval: Object.fromEntries(retrieval),
    pooled: Object.fromEntries(pooled),
    floors: floorsOf(run.retrieval),
    means: Object.fromEntries(groups.length > 0 ? means : []),
    similarity: Object.fromEntries(sts.map(([name, record]) => [name, similarityOf(record, ids)])),
    strong: strongOf(run.pairs, ids),
    bands: bandsOf(run.pairs, ids),
    pitfalls,
    languages,
  };
}
