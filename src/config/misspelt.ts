/** Variables that are one or two letters from a setting's name: those are never meant. */
export function misspelt(env: object, settings: readonly string[]): string[] {
  return Object.keys(env).flatMap((name) => {
    if (settings.includes(name)) return [];
    // Short names (PORT, HOST, MODEL) have neighbours such as PATH or SPORT.
    const meant = settings.find((setting) => setting.length > 5 && distance(name, setting) <= 2);
    return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`];
  });
}

/** Number of edits (Levenshtein) that make one name of the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
