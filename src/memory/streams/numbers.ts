/** Set of numbers from 1 to a highest one, a bit for each. */
export class Numbers {
  readonly #bits: Uint8Array;

  constructor(highest: number) {
    this.#bits = new Uint8Array(Math.floor(highest / 8) + 1);
  }

  add(number: number): void {
    const at = Math.floor(number / 8);
    if (at < this.#bits.length) this.#bits[at] = (this.#bits[at] as number) | (1 << (number % 8));
  }

  has(number: number): boolean {
    return ((this.#bits[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }
}
