import { matches } from "../filter/matches.js";
import type { Namespaces } from "../log/namespaces.js";
import type { Filter } from "../ports/condition.js";
import type { Selection } from "../ports/index.js";
import type { Sequenced } from "../ports/log.js";
import type { Scope } from "../ports/names.js";
import { fetchAll } from "../versions/fetch.js";
import { type ShowingOptions, type Shown, shownOf } from "../versions/showing.js";
import type { ReadingPorts } from "./ports.js";

/** Memories that match a filter, and the log that has them. */
export interface Matching {
  readonly logId: string;
  readonly selection: Selection;
}

/** Ports of the calls that read a namespace, with a filter or without. */
export interface MatchingPorts extends ReadingPorts {
  readonly namespaces: Namespaces;
}

interface Selecting {
  readonly filter: Filter;
  readonly includeSuperseded: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Selects the memories of a namespace that match a filter; undefined if the namespace does not exist. */
export function selectIn(
  { namespaces }: Pick<MatchingPorts, "namespaces">,
  scope: Scope,
  { filter, ...options }: Selecting,
): Promise<Matching | undefined> {
  return namespaces.reading(scope, async ({ replica }) => {
    await replica.current();
    const selection = await replica.searching((search) => search.select(filter, options));
    return { logId: replica.logId, selection };
  });
}

interface Reading extends Omit<ShowingOptions, "secondaryIndexes"> {
  readonly sequences: Float64Array;
  readonly filter: Filter;
}

/** Reads those of some memories that are still shown and match, in the order of their numbers. */
export async function readMatching(
  { log, secondaryIndexes }: Pick<ReadingPorts, "log" | "secondaryIndexes">,
  { sequences, filter, ...showing }: Reading,
): Promise<Sequenced<Shown>[]> {
  const all: Sequenced<Shown>[] = [];
  const { logId } = showing;
  for await (const some of fetchAll(log, { logId, sequences: [...sequences], what: "text" })) {
    const matching = some.filter(({ entry }) => matches(filter.condition, entry));
    all.push(...(await shownOf({ secondaryIndexes, ...showing }, matching)));
  }
  return all.sort((a, b) => a.sequence - b.sequence);
}
