import type { Order, Test } from "../../memory/ports/condition.js";
import { ELEMENT, followedBy, KIND, keyOf, kindOf } from "./keys.js";

/** Keys of values from one to before another, or one alone. */
export interface KeyRange {
  readonly from: Uint8Array;
  readonly to?: Uint8Array;
  /** Only texts with these bytes in them. */
  readonly containing?: Uint8Array;
}

/** Above all bytes of UTF-8. */
const ABOVE_TEXT = 0xff;

/** Lists the ranges of values that pass a test. They do not overlap. */
export function rangesOf(test: Test): readonly KeyRange[] {
  if (test.op === "exists") return [{ from: Uint8Array.of(KIND.container), to: Uint8Array.of(KIND.path) }];
  if (test.op === "in") {
    const keys = [...test.values].flatMap((value) =>
      [false, true].map((isElement) => keyOf(kindOf(value, isElement), value)),
    );
    // One kind after the other.
    return keys.map((from) => ({ from })).sort((a, b) => (a.from[0] as number) - (b.from[0] as number));
  }
  if (test.op === "prefix") {
    return aloneOrElement(KIND.text, (kind) => {
      const from = keyOf(kind, test.text);
      return { from, to: followedBy(from, ABOVE_TEXT) };
    });
  }
  if (test.op !== "contains") {
    return aloneOrElement(kindOf(test.than, false), (kind) => ordered(test.op, keyOf(kind, test.than)));
  }
  const element = { from: keyOf(kindOf(test.value, true), test.value) };
  if (typeof test.value !== "string") return [element];
  const texts = { from: Uint8Array.of(KIND.text), to: Uint8Array.of(KIND.text + ELEMENT) };
  const containing = keyOf(KIND.text, test.value).subarray(1);
  return [containing.length === 0 ? texts : { ...texts, containing }, element];
}

function aloneOrElement(kind: number, range: (kind: number) => KeyRange): KeyRange[] {
  return [range(kind), range(kind + ELEMENT)];
}

/** Makes the range of the values of one kind that are in an order to another. */
function ordered(op: Order, key: Uint8Array): KeyRange {
  const kind = key[0] as number;
  if (op === "gt") return { from: followedBy(key, 0), to: Uint8Array.of(kind + 1) };
  if (op === "gte") return { from: key, to: Uint8Array.of(kind + 1) };
  return { from: Uint8Array.of(kind), to: op === "lt" ? key : followedBy(key, 0) };
}
