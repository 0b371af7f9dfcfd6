/** A value that filters compare. */
export type Scalar = string | number | boolean | null;

/** Stands for an array or an object at a path: it exists, and equals nothing. */
export const CONTAINER = Symbol("container");
export type Value = Scalar | typeof CONTAINER;

/** Fields of a memory beside its metadata. Times are milliseconds since 1970. */
export type SystemField = "$id" | "$created_at" | "$updated_at" | "$event_time" | "$external_id";
/** Object of a test: a field of the memory, or the keys that lead to a place in its metadata. */
export type Field = SystemField | readonly string[];

/** Test of one value. A field passes if any value at it does. */
export type Test =
  | { readonly op: "exists" }
  | { readonly op: "in"; readonly values: ReadonlySet<Scalar> }
  | { readonly op: Order; readonly than: string | number }
  | { readonly op: "prefix"; readonly text: string }
  | { readonly op: "contains"; readonly value: Scalar };
export type Order = "gt" | "gte" | "lt" | "lte";

/** A parsed filter. All other operators are made of these. */
export type Condition =
  | { readonly kind: "all" | "any"; readonly operands: readonly Condition[] }
  | { readonly kind: "not"; readonly operand: Condition }
  | { readonly kind: "test"; readonly field: Field; readonly test: Test };

/** A filter that a caller gave. */
export interface Filter {
  readonly condition: Condition;
  /** Fingerprint of the filter, so that a page token works with its own filter only. */
  readonly key: string;
}

/** Condition that every memory meets. */
export const ALWAYS: Condition = { kind: "not", operand: { kind: "any", operands: [] } };

export function* testsOf(condition: Condition): Generator<Extract<Condition, { kind: "test" }>> {
  if (condition.kind === "test") yield condition;
  else if (condition.kind === "not") yield* testsOf(condition.operand);
  else for (const each of condition.operands) yield* testsOf(each);
}

/** Narrows a condition to memories of what happened between two instants in milliseconds since 1970, which are out. */
export function narrowed(
  condition: Condition | undefined,
  { after, before }: { readonly after?: number | undefined; readonly before?: number | undefined },
): Condition | undefined {
  const operands = condition === undefined ? [] : [condition];
  if (before !== undefined) operands.unshift(happened({ op: "lt", than: before }));
  if (after !== undefined) operands.unshift(happened({ op: "gt", than: after }));
  return operands.length > 1 ? { kind: "all", operands } : operands[0];
}

function happened(test: { op: "gt" | "lt"; than: number }): Condition {
  return { kind: "test", field: "$event_time", test };
}
