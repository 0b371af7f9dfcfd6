import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Namespaces } from "../../dist/src/memory/log/namespaces.js";
import { HOSTILE_QUERIES } from "../../test/index/words/hostile.js";
import { percentile, timed } from "../machine.js";

const ROUNDS = 5;
const WANTED = 10;

export interface WordsOptions {
  readonly namespaces: Namespaces;
  readonly scope: { readonly accountId: string; readonly namespace: string };
  readonly queries: readonly Query[];
  /** Bytes of the index for each memory: its vectors, words and fields. */
  bytes(): number;
  report(what: string, value: number): void;
}

/** Compares recalls by meaning with those by both. */
export async function measureWords({ namespaces, scope, queries, bytes, report }: WordsOptions) {
  const by = {
    meaning: ({ vector }: Query) =>
      namespaces.using(scope, async ({ replica }) => {
        await replica.current();
        return replica.searching((search) => search.best({ vectors: [vector], wanted: WANTED }));
      }),
    both: ({ text, vector }: Query) =>
      namespaces.using(scope, async ({ replica }) => {
        await replica.current();
        return replica.searching(async (search) => {
          const wordMatches = search.matchWords(text);
          return search.best({ vectors: [vector], wanted: WANTED, wordMatches });
        });
      }),
  };
  const [first] = queries as [Query];
  await by.meaning(first);
  report("bytes of the index per memory", bytes());
  // A server is measured, not its first seconds: its code is not compiled yet then.
  for (const query of queries) {
    await by.meaning(query);
    await by.both(query);
  }
  const times = { meaning: [] as number[], both: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const query of queries) {
      times.meaning.push((await timed(() => by.meaning(query))).ms);
      times.both.push((await timed(() => by.both(query))).ms);
    }
  }
  for (const [way, ms] of Object.entries(times)) {
    report(`search by ${way} and fetch, p50, ms`, percentile(ms, 0.5));
    report(`search by ${way} and fetch, p99, ms`, percentile(ms, 0.99));
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const hostile: number[] = [];
  // Two fifths of the texts have the first word.
  for (const text of ["w1", ...Object.values(HOSTILE_QUERIES)])
    hostile.push((await timed(() => by.both({ ...first, text }))).ms);
  delay.disable();
  report("the slowest hostile query, ms", Math.max(...hostile));
  report("event loop delay meanwhile, max, ms", delay.max / 1e6);
}

interface Query {
  readonly text: string;
  readonly vector: Float32Array;
}
