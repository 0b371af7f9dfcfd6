import type { Log, Numbered, Seen, Several, What } from "../ports/log.js";

/** The memories with these numbers, slice by slice, from the highest number down. */
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
