import type { Log, Scope, Seen } from "../ports/log.js";

/** The memory with this id, as the log has it; undefined when this namespace has none. */
export async function findMemory(log: Log, scope: Scope, id: string): Promise<Seen["text"] | undefined> {
  const logId = await log.find(scope);
  const sequence = logId && (await log.locate({ logId, id }));
  if (!logId || !sequence) return undefined;
  const { found } = await log.fetch({ logId, sequences: [sequence], what: "text" });
  return found[0]?.entry;
}
