import { estimate, mean, replicates } from "./bootstrap.js";
import { spearman } from "./ranks.js";
import {
  type Band,
  type BySystem,
  SAME_RATING,
  type SimilarityFigures,
  STRONG,
  type StrongFigures,
} from "./results.js";
import type { PairOutcome, PairsRecord } from "./run-record.js";

/** Sets whose ratings go from 0 to 5 and are numerous enough to say what a score means. */
const RATED = /^stsb-/;
const RATED_NAME = "STS benchmark";
const BANDS_FROM = 3;

type Sets = Readonly<Record<string, PairsRecord>>;

export function similarityOf(record: PairsRecord, ids: readonly string[]): SimilarityFigures {
  const here = ids.filter((id) => id in record.systems);
  const spearmanOf = (id: string) => {
    const outcomes = outcomesOf(record, id);
    const [scores, golds] = [outcomes.map(({ score }) => score), outcomes.map(({ gold }) => gold)];
    const drawn = replicates([outcomes.length], (draw) =>
      spearman(
        Array.from(draw, (i) => scores[i] as number),
        Array.from(draw, (i) => golds[i] as number),
      ),
    );
    return [id, estimate(spearman(scores, golds), drawn)] as const;
  };
  return {
    pairs: outcomesOf(record, here[0]).length,
    pairsInAll: record.pairsInAll,
    spearman: Object.fromEntries(here.map(spearmanOf)),
  };
}

/** Compares "above 0.80" with the pairs that people consider the same. BM25's scores have no such scale. */
export function strongOf(sets: Sets, ids: readonly string[]): Record<string, StrongFigures> {
  const models = ids.filter((id) => id !== "bm25");
  const labelled = Object.entries(sets).filter(([, { kind }]) => kind === "pairs");
  const rated = Object.entries(sets).filter(([name]) => RATED.test(name));
  const figures: Record<string, StrongFigures> = {};
  const pooled = pool(rated, models);
  if (rated.length > 0) figures[RATED_NAME] = strongFigures(pooled, ({ gold }) => gold >= SAME_RATING);
  for (const set of labelled) figures[set[0]] = strongFigures(pool([set], models), ({ gold }) => gold === 1);
  return figures;
}

/** Summarizes people's ratings of pairs by the score's tenth, from 0.3. */
export function bandsOf(sets: Sets, ids: readonly string[]): BySystem<readonly Band[]> {
  const rated = Object.entries(sets).filter(([name]) => RATED.test(name));
  const models = ids.filter((id) => id !== "bm25");
  if (rated.length === 0) return {};
  const bands = (outcomes: readonly PairOutcome[]) =>
    Array.from({ length: 10 - BANDS_FROM }, (_, i) => bandOf(outcomes, BANDS_FROM + i));
  return Object.fromEntries(Object.entries(pool(rated, models)).map(([id, each]) => [id, bands(each)]));
}

function bandOf(outcomes: readonly PairOutcome[], tenth: number): Band {
  const golds = outcomes
    .filter(({ score }) => Math.min(9, Math.floor(score * 10)) === tenth)
    .map(({ gold }) => gold);
  const same = mean(golds.map((gold) => Number(gold >= SAME_RATING)));
  return { from: tenth / 10, pairs: golds.length, meanRating: mean(golds), same };
}

function strongFigures(
  systems: BySystem<readonly PairOutcome[]>,
  isSame: (pair: PairOutcome) => boolean,
): StrongFigures {
  const [first = []] = Object.values(systems);
  const ofSystem = (outcomes: readonly PairOutcome[]) => {
    const isAbove = ({ score }: PairOutcome) => score > STRONG;
    return {
      above: outcomes.filter(isAbove).length,
      precision: shareOf(outcomes, { among: isAbove, that: isSame }),
      recall: shareOf(outcomes, { among: isSame, that: isAbove }),
    };
  };
  return {
    pairs: first.length,
    same: first.filter(isSame).length,
    systems: Object.fromEntries(Object.entries(systems).map(([id, each]) => [id, ofSystem(each)])),
  };
}

type Test = (pair: PairOutcome) => boolean;

/** Computes the share of the pairs `among` that are `that` as well. NaN if there are none. */
function shareOf(outcomes: readonly PairOutcome[], { among, that }: { among: Test; that: Test }) {
  const isAmong = outcomes.map(among);
  const isBoth = outcomes.map((each) => among(each) && that(each));
  const share = (draw: Iterable<number>) => {
    let [all, some] = [0, 0];
    for (const i of draw) {
      all += Number(isAmong[i]);
      some += Number(isBoth[i]);
    }
    return some / all;
  };
  return estimate(share(outcomes.keys()), replicates([outcomes.length], share));
}

function pool(sets: readonly (readonly [string, PairsRecord])[], ids: readonly string[]) {
  const here = ids.filter((id) => sets.every(([, { systems }]) => id in systems));
  return Object.fromEntries(here.map((id) => [id, sets.flatMap(([, record]) => outcomesOf(record, id))]));
}

function outcomesOf({ systems }: PairsRecord, id = ""): readonly PairOutcome[] {
  return systems[id]?.outcomes ?? [];
}
