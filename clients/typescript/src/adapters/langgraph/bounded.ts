/** Calls of one batch that run at a time. */
const CALLS_MAX = 8;

/** Does work for each item, a few at a time, and returns the results in the order of the items. */
export async function mapBounded<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(CALLS_MAX, items.length) }, worker));
  return results;
}

/** Cuts a list into parts of at most so many items. */
export function partsOf<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}
