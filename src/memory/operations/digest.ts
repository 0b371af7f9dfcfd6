const [FIRST, SECOND] = [0x811c9dc5, 0x01000193];

/** Makes a short word of a filter's key, for page tokens: two filters of one caller have different ones. */
export function digestOf(key: string): string {
  let [low, high] = [FIRST, SECOND];
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x85ebca6b);
    high = Math.imul(high ^ unit, 0xc2b2ae35) ^ (low >>> 15);
  }
  return (low >>> 0).toString(36) + (high >>> 0).toString(36);
}
