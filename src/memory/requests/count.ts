/** Formats a number for people: 65,536. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}
