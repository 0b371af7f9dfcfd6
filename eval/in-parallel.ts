/** Number of calls that run at once: enough to keep one server busy, and never more than it lets wait. */
const AT_ONCE = 16;

/** Runs all calls, some at a time, and returns their results in order. The first failure ends it. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  onProgress: (done: number) => void,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  let done = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T).catch((error) => {
        next = items.length;
        throw error;
      });
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
