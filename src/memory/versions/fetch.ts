import type { Clock } from "../../concurrency/clock.js";
import { mapSome } from "../../concurrency/map-some.js";
import { unavailable } from "../../errors.js";
import type { Log, Projected, Projection, Sequenced, Sequences } from "../ports/log.js";
import type { Names, Scope } from "../ports/names.js";
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
interface Marked {
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

/** Maximum number of looks for memories, which others may update meanwhile. */
const LOOKS_MAX = 20;
/** Ids looked up at a time. */
const LOCATING_MAX = 8;

/** Fetches the memories with these numbers, slice by slice, from the highest number down. */
export async function* fetchAll<W extends Projection>(
  log: Pick<Log, "fetch">,
  { sequences, ...request }: Sequences & { what: W },
): AsyncGenerator<Sequenced<Projected[W]>[]> {
  for (let rest = sequences; rest.length > 0; ) {
    const fetched = await log.fetch({ ...request, sequences: rest });
    yield fetched.found;
    rest = fetched.rest;
  }
}

/** Finds the memory with this id, also a superseded one; undefined if this namespace has none. */
export async function findMemory(
  ports: FindPorts & { readonly names: Names },
  scope: Scope,
  id: string,
): Promise<Shown | undefined> {
  const logId = await ports.names.find(scope);
  if (logId === undefined) return undefined;
  return (await findMemories(ports, { logId, ids: [id], what: "text" })).get(id);
}

export interface FindPorts {
  readonly log: Log;
  readonly secondaryIndexes: SecondaryIndexes;
  readonly clock: Pick<Clock, "wallMs">;
}

/** Finds the memories of a log with these ids, also superseded ones; those that it does not have are left out. */
export async function findMemories<W extends "all" | "text" | "head">(
  { log, secondaryIndexes, clock }: FindPorts,
  { logId, ids, what }: { logId: string; ids: readonly string[]; what: W },
): Promise<Map<string, Projected[W] & Marked>> {
  const showing = { secondaryIndexes, logId, nowMs: clock.wallMs(), includeSuperseded: true };
  const found = new Map<string, Projected[W] & Marked>();
  const before = new Map<string, number>();
  let rest = ids;
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const located = await mapSome(rest, LOCATING_MAX, (id) => secondaryIndexes.locate({ logId, id }));
    // Looked up again, because another version may have replaced it meanwhile.
    const news = rest.flatMap((id, i): [string, number][] => {
      const sequence = located[i];
      return sequence === undefined || sequence === before.get(id) ? [] : [[id, sequence]];
    });
    for (const [id, sequence] of news) before.set(id, sequence);
    const sequences = news.map(([, sequence]) => sequence);
    for await (const some of fetchAll(log, { logId, sequences, what })) {
      for (const { entry } of await shownOf(showing, some)) found.set(entry.id, entry);
    }
    rest = news.map(([id]) => id).filter((id) => !found.has(id));
    if (rest.length === 0) return found;
  }
  throw unavailable("a memory is changed again and again");
}
