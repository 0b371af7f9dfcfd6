import type { Erasure, Erasures } from "../ports/erasures.js";
import type { Entry, Log, Projection, Range, Sequenced } from "../ports/log.js";
import type { Listed, LostName, Named, Names } from "../ports/names.js";
import type { Lost } from "../ports/records.js";

/** Names or logs read at a time. */
const LIST_MANY = 500;

/** Walks through a list that is read page by page, each from behind the last item on. */
async function* inPages<T, P>(
  list: (after: P | undefined) => Promise<readonly T[]>,
  cursorOf: (item: T) => P,
  begin?: P,
): AsyncGenerator<T> {
  for (let after = begin; ; ) {
    const some = await list(after);
    yield* some;
    if (some.length < LIST_MANY) return;
    after = cursorOf(some.at(-1) as T);
  }
}

/** Walks through the names of namespaces, of all accounts or some of one, from the one after the given one on. */
export function allNames(
  names: Pick<Names, "list">,
  { after: begin, ...which }: Omit<Listed, "limit"> = {},
): AsyncGenerator<Named | LostName> {
  return inPages(
    (after) => names.list({ ...which, after, limit: LIST_MANY }),
    ({ scope }) => scope,
    begin,
  );
}

/** Walks through all logs, including those that have lost their name or have none yet. */
export function allLogIds(log: Log): AsyncGenerator<string> {
  return inPages<string, string>(
    (after = "") => log.logIds({ after, limit: LIST_MANY }),
    (logId) => logId,
  );
}

/** Walks through all erasures that have not ended. */
export function allErasures(erasures: Erasures): AsyncGenerator<Erasure | Lost> {
  return inPages<Erasure | Lost, string>(
    (after) => erasures.list({ limit: LIST_MANY, after }),
    ({ id }) => id,
  );
}

/** Walks along a log, some entries at a time, up to a number, or to its end. */
export async function* allEntries<W extends Projection>(
  log: Pick<Log, "read">,
  { from: first, upto = Number.POSITIVE_INFINITY, limit, ...range }: Range<W> & { readonly upto?: number },
): AsyncGenerator<Sequenced<Entry<W>>[]> {
  for (let from = first; from <= upto; ) {
    const { entries, complete } = await log.read({ ...range, from, limit: Math.min(limit, upto - from + 1) });
    yield entries;
    if (complete) return;
    from += entries.length;
  }
}
