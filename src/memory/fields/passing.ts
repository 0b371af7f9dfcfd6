import { testerOf } from "../filter/matches.js";
import type { Scalar, Test } from "../ports/condition.js";
import type { Dictionary } from "./dictionary.js";

/** Number of values looked at before other work may get its turn: below a millisecond. */
const SLICE_VALUES = 4_096;

/**
 * Marks by a 1 the values of a column that pass a test: each has two places, the second for elements of arrays.
 * Behind them are a place for arrays and objects, and one for what was removed. Answers undefined if it is clear
 * that nothing passes.
 */
export function* passingIn(values: Dictionary, test: Test): Generator<void, Uint8Array | undefined> {
  if (test.op === "in") return equal(values, test.values);
  return yield* passingValues(values, test);
}

function placesFor(values: Dictionary): Uint8Array {
  return new Uint8Array(2 * values.size + 2);
}

function equal(values: Dictionary, sought: ReadonlySet<Scalar>): Uint8Array | undefined {
  const numbers = [...sought].map((value) => values.find(value)).filter((each) => each !== undefined);
  if (numbers.length === 0) return undefined;
  const passing = placesFor(values);
  for (const number of numbers) passing.fill(1, 2 * number, 2 * number + 2);
  return passing;
}

/** Tests each value once: only for `$contains` it matters whether it is an element of an array. */
function* passingValues(values: Dictionary, test: Test): Generator<void, Uint8Array> {
  const passes = testerOf(test);
  const passing = placesFor(values);
  const end = values.size;
  for (let number = 0; number < end; number++) {
    const value = values.valueOf(number);
    if (value !== undefined) {
      const alone = Number(passes(value, false));
      passing[2 * number] = alone;
      passing[2 * number + 1] = test.op === "contains" ? Number(passes(value, true)) : alone;
    }
    if (number % SLICE_VALUES === SLICE_VALUES - 1) yield;
  }
  passing[2 * end] = Number(test.op === "exists");
  return passing;
}
