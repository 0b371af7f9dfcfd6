import type { Log, Numbered, Scope, Seen, Several, What } from "../ports/log.js";

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

/** Finds the memory with this id; undefined if this namespace has none. */
export async function findMemory(log: Log, scope: Scope, id: string): Promise<Seen["text"] | undefined> {
  const logId = await log.find(scope);
  const sequence = logId && (await log.locate({ logId, id }));
  if (!logId || !sequence) return undefined;
  const { found } = await log.fetch({ logId, sequences: [sequence], what: "text" });
  return found[0]?.entry;
}
