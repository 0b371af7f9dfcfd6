/** A model's reply: what it says, and what it wants to have remembered. */
export interface Reply {
  readonly say: string;
  readonly remember?: string;
}

/**
 * Stands in for a language model, so that the examples need no network. A real one gets the memories in its
 * context, beside what the user said, and decides what is worth remembering.
 */
export function reply(said: string, memories: readonly string[]): Reply {
  if (!said.endsWith("?")) return { say: "I will remember that.", remember: said };
  const [best] = memories;
  return { say: best === undefined ? "I do not know that yet." : `You told me: ${best}` };
}
