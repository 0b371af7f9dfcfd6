/** The two kinds of the bare server: it embeds in threads, or on its main thread. */
export const BARE = ["bare-thread", "bare-main"] as const;

/** Column names of all that is measured like a system without being one. */
export const FLOORS: Readonly<Record<string, string>> = {
  "bare-thread": "bare server, thread",
  "bare-main": "bare server, main",
  embedder: "embedder alone",
  "embedder-python": "the same in Python",
};
