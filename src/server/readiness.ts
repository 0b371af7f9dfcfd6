/** Whether this process should be sent calls; read by `/readyz` and gRPC health. */
export class Readiness {
  #ready = false;
  #leaving = false;
  readonly #watchers = new Set<() => void>();

  now(): boolean {
    return this.#ready && !this.#leaving;
  }

  /** Whether the process is on its way out: it answers what comes, and wants no more of it. */
  get leaving(): boolean {
    return this.#leaving;
  }

  set(ready: boolean): void {
    this.#change(() => {
      this.#ready = ready;
    });
  }

  /** Withdraws it for good: a database that comes back while the process ends must not restore it. */
  leave(): void {
    this.#change(() => {
      this.#leaving = true;
    });
  }

  /** Calls back on every change, until the answer is called. */
  onChange(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  #change(by: () => void): void {
    const before = this.now();
    by();
    if (this.now() === before) return;
    for (const watcher of this.#watchers) watcher();
  }
}
