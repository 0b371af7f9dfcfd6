/** Whether this process should be sent calls; read by `/readyz` and gRPC health. */
export class Readiness {
  #ready = false;
  readonly #watchers = new Set<() => void>();

  now(): boolean {
    return this.#ready;
  }

  set(ready: boolean): void {
    if (ready === this.#ready) return;
    this.#ready = ready;
    for (const watcher of this.#watchers) watcher();
  }

  /** Calls back on every change, until the answer is called. */
  onChange(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }
}
