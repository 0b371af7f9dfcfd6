import { mapConcurrently } from "../../concurrency/map-concurrently.js";
import { unavailable } from "../../errors.js";
import type { Log, MemoryHeader, Projected, Projection, Sequenced, Sequences } from "../ports/log.js";
import type { Names, Scope } from "../ports/names.js";
import type { DomainPorts } from "../ports/ports.js";
import { isExpired, lastOf, noSuchMemory } from "./current-version.js";

export type FindPorts = Pick<DomainPorts, "log" | "secondaryIndexes" | "clock">;

/** Which memories of a log are visible. */
export interface Visibility {
  readonly logId: string;
  /** True if memories that others superseded are wanted, too. */
  readonly includeSuperseded?: boolean | undefined;
  /** Number up to which entries supersede others; that of the log's last entry if left out. */
  readonly upto?: number | undefined;
}

/** What is known of a memory beside its own entry. */
interface Marked {
  /** Id of the memory that superseded it. */
  readonly supersededBy?: string | undefined;
}

export type VisibleMemory = Projected["text"] & Marked;

/** Leaves out memories that were replaced or deleted, have expired, or are superseded. */
export async function visibleOnly<E extends MemoryHeader>(
  { secondaryIndexes, clock }: FindPorts,
  { logId, includeSuperseded = false, upto = Number.POSITIVE_INFINITY }: Visibility,
  memories: readonly Sequenced<E>[],
): Promise<Sequenced<E & Marked>[]> {
  const nowMs = clock.wallMs();
  const living = memories.filter(({ entry }) => !isExpired(entry, nowMs));
  const sequences = living.map(({ sequence }) => sequence);
  const all = sequences.length === 0 ? [] : await secondaryIndexes.findReplacements({ logId, sequences });
  return living.flatMap(({ sequence, entry }): Sequenced<E & Marked>[] => {
    const by = lastOf(all.filter(({ target }) => target === sequence));
    if (by === undefined) return [{ sequence, entry }];
    if (by.how !== "superseded" || (!includeSuperseded && by.sequence <= upto)) return [];
    return [{ sequence, entry: { ...entry, supersededBy: by.id } }];
  });
}

/** Maximum number of attempts to find memories, which others may update meanwhile. */
const ATTEMPTS_MAX = 20;
/** Ids looked up at a time. */
const LOCATING_MAX = 8;

/** Fetches the memories with these numbers, slice by slice, from the highest number down. */
export async function* fetchAll<W extends Projection>(
  log: Pick<Log, "fetch">,
  { sequences, ...request }: Sequences & { projection: W },
): AsyncGenerator<Sequenced<Projected[W]>[]> {
  for (let rest = sequences; rest.length > 0; ) {
    const fetched = await log.fetch({ ...request, sequences: rest });
    yield fetched.found;
    rest = fetched.rest;
  }
}

/** Fetches those of some memories that are visible, slice by slice, from the highest number down. */
export async function* fetchVisible<W extends Projection>(
  ports: FindPorts,
  { logId, sequences, projection, ...visibility }: Visibility & Sequences & { readonly projection: W },
): AsyncGenerator<Sequenced<Projected[W] & Marked>[]> {
  for await (const some of fetchAll(ports.log, { logId, sequences, projection })) {
    yield await visibleOnly(ports, { logId, ...visibility }, some);
  }
}

/** Finds the memory with this id, also a superseded one. @throws MemoryError `not_found` if this namespace has none */
export async function expectMemory(
  ports: FindPorts & Pick<DomainPorts, "names">,
  scope: Scope,
  id: string,
): Promise<VisibleMemory> {
  const found = (await findInNamespace(ports, scope, { ids: [id], projection: "text" })).get(id);
  if (found === undefined) throw noSuchMemory();
  return found;
}

/** Finds the memories of a namespace with these ids, also superseded ones; those that it does not have are left out. */
export async function findInNamespace<W extends "text" | "header">(
  ports: FindPorts & Pick<DomainPorts, "names">,
  scope: Scope,
  { ids, projection }: { ids: readonly string[]; projection: W },
): Promise<Map<string, Projected[W] & Marked>> {
  const found = await readInNamespace(ports.names, scope, {
    read: (logId) => findMemories(ports, { logId, ids, projection }),
    isWhole: (memories) => ids.every((id) => memories.has(id)),
  });
  return found ?? new Map();
}

/**
 * Reads something from a namespace's log; undefined if there is no namespace. A log that moves to another model
 * meanwhile loses what changes in its copy, and is erased soon: if something is missing there, it is looked up in the copy.
 */
export async function readInNamespace<T>(
  names: Pick<Names, "find">,
  scope: Scope,
  { read, isWhole }: { read(logId: string): Promise<T>; isWhole(found: T): boolean },
): Promise<T | undefined> {
  let logId = await names.find(scope);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (logId === undefined) return undefined;
    const found = await read(logId);
    if (isWhole(found)) return found;
    const present = await names.find(scope);
    if (present === logId) return found;
    logId = present;
  }
  throw unavailable("the namespace moves again and again");
}

/** Finds the memories of a log with these ids, also superseded ones; those that it does not have are left out. */
export async function findMemories<W extends "all" | "text" | "header">(
  ports: FindPorts,
  { logId, ids, projection }: { logId: string; ids: readonly string[]; projection: W },
): Promise<Map<string, Projected[W] & Marked>> {
  const found = new Map<string, Projected[W] & Marked>();
  const before = new Map<string, number>();
  let rest = ids;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const located = await mapConcurrently(rest, LOCATING_MAX, (id) =>
      ports.secondaryIndexes.locate({ logId, id }),
    );
    // Looked up again, because another version may have replaced it meanwhile.
    const unread = rest.flatMap((id, i): [string, number][] => {
      const sequence = located[i];
      return sequence === undefined || sequence === before.get(id) ? [] : [[id, sequence]];
    });
    for (const [id, sequence] of unread) before.set(id, sequence);
    const sequences = unread.map(([, sequence]) => sequence);
    for await (const some of fetchVisible(ports, { logId, sequences, projection, includeSuperseded: true })) {
      for (const { entry } of some) found.set(entry.id, entry);
    }
    rest = unread.map(([id]) => id).filter((id) => !found.has(id));
    if (rest.length === 0) return found;
  }
  throw unavailable("a memory is changed again and again");
}
