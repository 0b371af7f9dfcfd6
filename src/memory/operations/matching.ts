import type { Clock } from "../../concurrency/clock.js";
import { mapInTimeSlices } from "../../concurrency/time-slices.js";
import { invalid } from "../../errors.js";
import { ALWAYS, type Filter } from "../ports/condition.js";
import type { Projected, Sequenced, Sequences } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import { parseFilter } from "../requests/filter.js";
import { parseMemoryIds } from "../requests/id.js";
import { matches } from "../requests/matches.js";
import { fetchVisible, type Visibility, type VisibleMemory } from "../versions/fetch.js";
import type { ChangingRequest, Ports } from "./ports.js";

/** Memories that a dry run shows at most. */
const SAMPLES_MAX = 20;

/** Stands in page tokens and conditions for no filter. */
export const ALL: Filter = { condition: ALWAYS, key: "" };

export interface Selecting {
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Parses which memories a change is about: by their ids or by a filter, and not by both. */
export function parseTargets({
  ids,
  filter: given,
  dryRun = false,
}: Pick<ChangingRequest, "ids" | "filter" | "dryRun">) {
  if (given === undefined) {
    if (ids.length === 0) throw invalid("ids", "is missing, and so is filter");
    if (dryRun) throw invalid("dry_run", "is for a filter; it cannot be used with ids");
    return { ids: parseMemoryIds(ids), filter: undefined };
  }
  if (ids.length > 0) throw invalid("filter", "cannot be used with ids");
  const filter = parseFilter(given);
  // It would match everything: a filter that was made without its condition must not change or delete all.
  if (filter === undefined) throw invalid("filter", "is empty; it must have a condition");
  return { ids, filter };
}

/** What a change by a filter would be about. */
export interface DryRun {
  readonly matched: number;
  /** Some of them, the oldest. */
  readonly samples: readonly VisibleMemory[];
}

/** Finds what a filter matches, for a change that must not be made yet. */
export async function dryRun(ports: Ports, scope: Scope, selecting: Selecting): Promise<DryRun> {
  const matching = await selectIn(ports, scope, selecting);
  if (matching === undefined) return { matched: 0, samples: [] };
  const { logId, selection } = matching;
  const sequences = [...selection.sequences.subarray(0, SAMPLES_MAX)];
  const samples = await readMatching(ports, { ...selecting, logId, sequences });
  return { matched: selection.size, samples: samples.map(({ entry }) => entry) };
}

/** Selects the memories of a namespace that match a filter; undefined if the namespace does not exist. */
export function selectIn({ namespaces }: Ports, scope: Scope, { filter, ...options }: Selecting) {
  return namespaces.using(scope, async ({ replica }) => {
    await replica.current();
    const selection = await replica.searching((search) => search.select(filter), options);
    return { logId: replica.logId, selection };
  });
}

/** Reads those of some memories that are still visible and match, in the order of their numbers. */
export async function readMatching(
  ports: Ports,
  { filter, ...visibility }: Visibility & Sequences & Pick<Selecting, "filter">,
): Promise<Sequenced<VisibleMemory>[]> {
  const all: Sequenced<VisibleMemory>[] = [];
  for await (const some of fetchVisible(ports, { ...visibility, projection: "text" })) {
    all.push(...(await matchingIn(ports.clock, some, filter)));
  }
  return all.sort((a, b) => a.sequence - b.sequence);
}

/** Leaves out memories that do not match. Other work runs in between: the largest filter takes milliseconds for each. */
export async function matchingIn<E extends Projected["text"]>(
  clock: Clock,
  some: readonly Sequenced<E>[],
  { condition }: Filter,
): Promise<Sequenced<E>[]> {
  const isMatching = await mapInTimeSlices(some, clock, ({ entry }) => matches(condition, entry));
  return some.filter((_, i) => isMatching[i]);
}
