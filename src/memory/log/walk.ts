import type { Entry, Log, Projection, Range, Sequenced } from "../ports/log.js";
import type { Named, Names, Scope } from "../ports/names.js";

/** Names or logs read at a time. */
const LIST_MANY = 100;

/** Walks through the names of all accounts' namespaces, from the one after the given one on. */
export async function* allNames(names: Names, begin?: Scope): AsyncGenerator<Named> {
  for (let after = begin; ; ) {
    const some = await names.listAll({ after, limit: LIST_MANY });
    yield* some;
    after = some.at(-1)?.scope;
    if (some.length < LIST_MANY) return;
  }
}

/** Walks along a log, some entries at a time, up to its end. */
export async function* allEntries<W extends Projection>(
  log: Log,
  { from: first, ...range }: Range<W>,
): AsyncGenerator<Sequenced<Entry<W>>[]> {
  for (let from = first; ; ) {
    const { entries, complete } = await log.read({ ...range, from });
    yield entries;
    if (complete) return;
    from += entries.length;
  }
}

/** Walks through all logs, including those that have lost their name or have none yet. */
export async function* allLogIds(log: Log): AsyncGenerator<string> {
  for (let after = ""; ; ) {
    const some = await log.logIds({ after, limit: LIST_MANY });
    yield* some;
    after = some.at(-1) ?? after;
    if (some.length < LIST_MANY) return;
  }
}
