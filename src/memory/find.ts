import type { Log, Scope, Stored } from "./log.js";

/** The memory with this id, as the log has it; undefined when this namespace has none. */
export async function findMemory(log: Log, scope: Scope, id: string): Promise<Stored | undefined> {
  const incarnation = await log.find(scope);
  const sequence = incarnation && (await log.locate({ incarnation, id }));
  if (!incarnation || !sequence) return undefined;
  return (await log.fetch({ incarnation, sequences: [sequence] }))[0]?.entry;
}
