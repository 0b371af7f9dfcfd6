/** Returns whole numbers from 0 to at least `max`, in up to four steps of 1, 2 or 5 times a power of ten. */
export function niceTicks(max: number): number[] {
  const raw = Math.max(max / 4, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? raw;
  const steps = Math.max(Math.ceil(max / step), 1);
  return Array.from({ length: steps + 1 }, (_, index) => index * step);
}
