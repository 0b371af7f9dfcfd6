import { isHybrid } from "./options.js";
import type { BySystem, FloorFigures } from "./results.js";
import type { Fit, Outcome, RetrievalRecord } from "./run-record.js";

/** The floor that docs/api.md advises, on the score and half the share of the query's words. */
const MIN_FIT = 0.4;

/** Computes for each set what the floor does to the first five rows of each query, by model. */
export function floorsOf(
  records: Readonly<Record<string, RetrievalRecord>>,
): Record<string, BySystem<FloorFigures>> {
  return Object.fromEntries(
    Object.entries(records).map(([set, { systems }]) => [
      set,
      Object.fromEntries(
        Object.entries(systems)
          .filter(([id]) => isHybrid(id))
          .map(([id, { outcomes }]) => [id, figuresOf(outcomes)]),
      ),
    ]),
  );
}

function figuresOf(outcomes: readonly Outcome[]): FloorFigures {
  const answerable = outcomes.filter((each) => each.answerable);
  const unanswerable = outcomes.filter((each) => !each.answerable);
  const rows = answerable.flatMap(({ fits = [] }) => fits);
  const [right, wrong] = [rows.filter(isRight), rows.filter((fit) => !isRight(fit))];
  const answered = answerable.filter(({ fits = [] }) => fits.some(isRight));
  const lost = answered.filter(({ fits = [] }) => !fits.some((fit) => isRight(fit) && isKept(fit)));
  const empty = unanswerable.filter(({ fits = [] }) => !fits.some(isKept));
  return {
    right: right.length,
    rightLost: shareOf(right, (fit) => !isKept(fit)),
    wrongSpared: shareOf(wrong, (fit) => !isKept(fit)),
    answersLost: answerable.length === 0 ? 0 : lost.length / answerable.length,
    unanswerable: unanswerable.length,
    empty: unanswerable.length === 0 ? 0 : empty.length / unanswerable.length,
  };
}

function isRight([, , right]: Fit): boolean {
  return right;
}

function isKept([score, words]: Fit): boolean {
  return score + words / 2 >= MIN_FIT;
}

function shareOf<T>(all: readonly T[], is: (one: T) => boolean): number {
  return all.length === 0 ? 0 : all.filter(is).length / all.length;
}
