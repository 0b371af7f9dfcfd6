/** Bytes that an account takes for itself, beside what is held of it. */
const ACCOUNT_BYTES = 256;

interface Held<T> {
  readonly value: T;
  bytes: number;
}

export interface PerAccountOptions<T> {
  /** Bytes of all accounts together. Beyond it, the accounts that called least recently are forgotten. */
  readonly bytesMax: number;
  /** Makes what is held of an account at first. */
  open(): T;
}

/** Holds something of each account in memory, within one bound for all. */
export class PerAccount<T> {
  /** Accounts in the order of their last change, the oldest first. */
  readonly #held = new Map<string, Held<T>>();
  #bytes = 0;

  constructor(private readonly options: PerAccountOptions<T>) {}

  get(accountId: string): T | undefined {
    return this.#held.get(accountId)?.value;
  }

  /** Changes what is held of an account. `change` answers by how many bytes it has grown. */
  update(accountId: string, change: (value: T) => number): void {
    const held = this.#held.get(accountId) ?? this.#open();
    const grown = change(held.value);
    held.bytes += grown;
    this.#bytes += grown;
    this.#held.delete(accountId);
    this.#held.set(accountId, held);
    while (this.#bytes > this.options.bytesMax && this.#held.size > 1) {
      this.forget(this.#held.keys().next().value as string);
    }
  }

  forget(accountId: string): void {
    this.#bytes -= this.#held.get(accountId)?.bytes ?? 0;
    this.#held.delete(accountId);
  }

  #open(): Held<T> {
    this.#bytes += ACCOUNT_BYTES;
    return { value: this.options.open(), bytes: ACCOUNT_BYTES };
  }
}
