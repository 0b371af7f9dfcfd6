/** A number as people read it: 65,536. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}
