/** A queue for each name: its work runs one after the other, whether what was before it succeeded or failed. */
export type SerialQueue = <T>(work: () => Promise<T>, name?: string) => Promise<T>;

export function serialQueue(): SerialQueue {
  /** The last work of each name; a name without any is forgotten. */
  const lasts = new Map<string, Promise<void>>();
  return (work, name = "") => {
    const working = (lasts.get(name) ?? Promise.resolve()).then(work);
    // Whoever asked for it learns of its failure.
    const ended = () => {
      if (lasts.get(name) === last) lasts.delete(name);
    };
    const last = working.then(ended, ended);
    lasts.set(name, last);
    return working;
  };
}
