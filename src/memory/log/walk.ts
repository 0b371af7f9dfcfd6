import type { Log, Named, Scope } from "../ports/log.js";

/** Names and logs looked up at a time. */
const LIST_MANY = 100;

/** The names of all accounts' namespaces. */
export async function* allNames(log: Log): AsyncGenerator<Named> {
  for (let after: Scope | undefined; ; ) {
    const some = await log.names({ after, limit: LIST_MANY });
    yield* some;
    after = some.at(-1)?.scope;
    if (some.length < LIST_MANY) return;
  }
}

/** All logs that there are, also such as have no name any more, or none yet. */
export async function* allLogIds(log: Log): AsyncGenerator<string> {
  for (let after = ""; ; ) {
    const some = await log.logIds({ after, limit: LIST_MANY });
    yield* some;
    after = some.at(-1) ?? after;
    if (some.length < LIST_MANY) return;
  }
}
