import type { Projected, Sequenced } from "../ports/log.js";
import type { SecondaryIndexes } from "../ports/secondary-indexes.js";
import { isExpired, lastOf } from "./current-version.js";

export interface ShowingOptions {
  readonly secondaryIndexes: Pick<SecondaryIndexes, "findReplacements">;
  readonly logId: string;
  readonly nowMs: number;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded: boolean;
}

/** Mark of a memory that its own entry does not hold. */
export interface Marked {
  /** Id of the memory that superseded it. */
  readonly supersededBy?: string | undefined;
}

export type Shown = Projected["text"] & Marked;

/** Leaves out memories that were replaced or deleted, have expired, or are superseded. */
export async function shownOf<E extends Projected["head"]>(
  { secondaryIndexes, logId, nowMs, includeSuperseded }: ShowingOptions,
  numbered: readonly Sequenced<E>[],
): Promise<Sequenced<E & Marked>[]> {
  const living = numbered.filter(({ entry }) => !isExpired(entry, nowMs));
  const replacements = await replacementsOf({ secondaryIndexes, logId }, living);
  return living.flatMap(({ sequence, entry }): Sequenced<E & Marked>[] => {
    const by = replacements.get(sequence);
    if (by === undefined) return [{ sequence, entry }];
    if (by.how !== "superseded" || !includeSuperseded) return [];
    return [{ sequence, entry: { ...entry, supersededBy: by.id } }];
  });
}

async function replacementsOf(
  { secondaryIndexes, logId }: Pick<ShowingOptions, "secondaryIndexes" | "logId">,
  numbered: readonly Sequenced<Projected["head"]>[],
) {
  const sequences = numbered.map(({ sequence }) => sequence);
  const all = sequences.length === 0 ? [] : await secondaryIndexes.findReplacements({ logId, sequences });
  return new Map(
    sequences.flatMap((sequence) => {
      const last = lastOf(all.filter(({ target }) => target === sequence));
      return last === undefined ? [] : [[sequence, last] as const];
    }),
  );
}
