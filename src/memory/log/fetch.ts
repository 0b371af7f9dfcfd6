import { unavailable } from "../../errors.js";
import type { Clock } from "../pacing/clock.js";
import type { Log, Numbered, Scope, Seen, Several, What } from "../ports/log.js";
import { type Shown, shownOf } from "../versions/showing.js";

/** Maximum number of looks for a memory, which others may update meanwhile. */
const LOOKS_MAX = 20;

/** Fetches the memories with these numbers, slice by slice, from the highest number down. */
export async function* fetchAll<W extends What>(
  log: Pick<Log, "fetch">,
  { sequences, ...of }: Several & { what: W },
): AsyncGenerator<Numbered<Seen[W]>[]> {
  for (let rest = sequences; rest.length > 0; ) {
    const fetched = await log.fetch({ ...of, sequences: rest });
    yield fetched.found;
    rest = fetched.rest;
  }
}

/** Finds the memory with this id, also a superseded one; undefined if this namespace has none. */
export async function findMemory(
  { log, clock }: { log: Log; clock: Pick<Clock, "wallMs"> },
  scope: Scope,
  id: string,
): Promise<Shown | undefined> {
  const logId = await log.find(scope);
  if (logId === undefined) return undefined;
  const showing = { log, logId, nowMs: clock.wallMs(), includeSuperseded: true };
  let before: number | undefined;
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const sequence = await log.locate({ logId, id });
    // Looked up again, because another version may have replaced it meanwhile.
    if (sequence === undefined || sequence === before) return undefined;
    before = sequence;
    const { found } = await log.fetch({ logId, sequences: [sequence], what: "text" });
    const [shown] = await shownOf(showing, found);
    if (shown !== undefined) return shown.entry;
  }
  throw unavailable("the memory is changed again and again");
}
