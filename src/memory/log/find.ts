import type { Log, Scope, Seen } from "../ports/log.js";

/** The memory with this id, as the log has it; undefined when this namespace has none. */
export async function findMemory(log: Log, scope: Scope, id: string): Promise<Seen["text"] | undefined> {
  const incarnation = await log.find(scope);
  const sequence = incarnation && (await log.locate({ incarnation, id }));
  if (!incarnation || !sequence) return undefined;
  const { found } = await log.fetch({ incarnation, sequences: [sequence], what: "text" });
  return found[0]?.entry;
}
