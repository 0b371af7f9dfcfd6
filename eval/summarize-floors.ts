import { fitOf } from "../dist/src/memory/operations/recall.js";
import { isHybrid } from "./options.js";
import type { BySystem, FloorFigures } from "./results.js";
import type { Fit, Outcome, RetrievalRecord } from "./run-record.js";

/** The floor that docs/api.md advises. */
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
  return {
    right: right.length,
    rightLost: shareOf(right, (fit) => !isAboveFloors(fit)),
    wrongSpared: shareOf(wrong, (fit) => !isAboveFloors(fit)),
    answersLost: shareOf(answerable, ({ fits = [] }) => losesAnswer(fits)),
    unanswerable: unanswerable.length,
    empty: shareOf(unanswerable, ({ fits = [] }) => !fits.some(isAboveFloors)),
  };
}

function losesAnswer(fits: readonly Fit[]): boolean {
  const right = fits.filter(isRight);
  return right.length > 0 && !right.some(isAboveFloors);
}

function isRight([, , right]: Fit): boolean {
  return right;
}

function isAboveFloors([score, words]: Fit): boolean {
  return fitOf({ score, words }) >= MIN_FIT;
}

function shareOf<T>(all: readonly T[], is: (one: T) => boolean): number {
  return all.length === 0 ? 0 : all.filter(is).length / all.length;
}
