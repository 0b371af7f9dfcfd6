/**
 * Measures several things once a round, starting each round with another one, so that other load on the
 * machine affects all of them.
 */
export async function interleaved<T>(
  names: readonly string[],
  rounds: number,
  measure: (name: string, round: number) => Promise<T>,
): Promise<Record<string, T[]>> {
  const measured: Record<string, T[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length] as string;
      measured[name]?.push(await measure(name, round));
    }
  }
  return measured;
}
