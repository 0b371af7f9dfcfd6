/** Runs one piece of work after the other, whether those before it succeed or fail. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const working = last.then(work);
    // Whoever asked for it learns of its failure.
    last = working.catch(() => {});
    return working;
  };
}
