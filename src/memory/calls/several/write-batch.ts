import { type Answered, deletedSince } from "../../idempotency/idempotency.js";
import type { WishPorts } from "../store-if.js";
import { withinQuota } from "../within-quota.js";
import type { Batch, BatchItem, BatchResult } from "./batch.js";
import { findStandingItems } from "./find-standing.js";
import { type Known, knownOf } from "./known.js";
import { errorOfItem } from "./of-item.js";
import { Writing } from "./writing.js";

/** Memories that earlier attempts have stored, where there were none. */
const NONE: ReadonlyMap<string, Known> = new Map();

export interface Written {
  /** A result for each memory, in order. */
  readonly results: readonly BatchResult[];
  /** Those that this attempt has stored, and has paid for. */
  readonly fresh: readonly Answered[];
}

/**
 * Charges, embeds and appends the memories of a batch that no earlier attempt has stored.
 *
 * @throws MemoryError if the plan cannot pay for them, the caller stops waiting, or none could be stored.
 */
export async function writeBatch(ports: WishPorts, batch: Batch): Promise<Written> {
  const { caller, items, attempt, scope, steps } = batch;
  const { quota } = ports;
  const known = attempt?.isFirst === false ? await knownBefore(ports, batch, attempt.stored) : NONE;
  const left = items.filter(({ id }) => !known.has(id));
  const standing = await findStandingItems(ports, { caller, scope, items: left, attempt });
  const unwritten = left.filter(({ id }) => !standing.has(id));
  const writing = new Writing(ports, { ...batch, items: unwritten });
  const resultOf = ({ id }: BatchItem): BatchResult => {
    const before = known.get(id);
    return before === undefined ? (standing.get(id) ?? writing.resultOf(id)) : resultOfKnown(before);
  };
  const refuseIfNone = () => {
    const [first, ...others] = items.map(resultOf);
    if (known.size > 0 || first === undefined || !("error" in first)) return;
    if (others.every((other) => "error" in other)) throw errorOfItem("memories[0]", first.error);
  };
  const calls = unwritten.length;
  if (calls > 0) {
    const charging = { quota, caller, steps, signal: batch.signal, calls, kept: () => writing.fresh.length };
    await withinQuota(charging, async ({ paid, signal }) => {
      await writing.run(paid, signal);
      refuseIfNone();
    });
    const unpaid = calls - writing.fresh.length;
    if (unpaid > 0) await quota.refund(caller, unpaid);
  } else refuseIfNone();
  return { results: items.map(resultOf), fresh: writing.fresh };
}

/** Looks up what earlier attempts have stored. What they told of, and the log does not hold, was dropped since. */
async function knownBefore(
  ports: WishPorts,
  { scope, items }: Batch,
  stored: readonly number[],
): Promise<Map<string, Known>> {
  const known = await knownOf(ports, scope, { items });
  for (const { id } of stored.flatMap((place) => items[place] ?? [])) {
    if (!known.has(id)) known.set(id, "gone");
  }
  return known;
}

/** Makes the result of a memory that an earlier call has stored: it may have been deleted since. */
export function resultOfKnown(known: Known | undefined): BatchResult {
  return known === undefined || known === "gone" ? { error: deletedSince() } : { stored: known };
}
