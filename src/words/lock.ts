/**
 * Lets readers run at the same time, and writers alone. All begin in the order of their requests, so no
 * writer waits for readers that came later.
 */
export class Lock {
  /** Number of requests that have not begun. */
  waiting = 0;
  #readers = 0;
  #isWriting = false;
  readonly #queue: { readonly writes: boolean; begin(): void }[] = [];

  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#run(false, work);
  }

  write<T>(work: () => Promise<T>): Promise<T> {
    return this.#run(true, work);
  }

  async #run<T>(writes: boolean, work: () => Promise<T>): Promise<T> {
    if (this.#queue.length > 0 || !this.#isFree(writes)) await this.#wait(writes);
    else this.#take(writes);
    try {
      return await work();
    } finally {
      if (writes) this.#isWriting = false;
      else this.#readers--;
      this.#beginSome();
    }
  }

  #isFree(writes: boolean): boolean {
    return !this.#isWriting && (!writes || this.#readers === 0);
  }

  #take(writes: boolean): void {
    if (writes) this.#isWriting = true;
    else this.#readers++;
  }

  #wait(writes: boolean): Promise<void> {
    this.waiting++;
    return new Promise((begin) => this.#queue.push({ writes, begin }));
  }

  #beginSome(): void {
    for (let next = this.#queue[0]; next && this.#isFree(next.writes); next = this.#queue[0]) {
      this.#queue.shift();
      this.waiting--;
      this.#take(next.writes);
      next.begin();
    }
  }
}
