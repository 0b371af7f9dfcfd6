/** Other servers that calls need. */
type Needed = "database" | "embedding server";

/** State of whether this process should be sent calls; read by `/readyz` and gRPC health. */
export class Readiness {
  #started = false;
  readonly #away = new Set<Needed>();
  #withdrawn = false;
  readonly #watchers = new Set<() => void>();

  now(): boolean {
    return this.#started && this.#away.size === 0 && !this.#withdrawn;
  }

  /** True once the process is on its way out: it answers what comes, and wants no more of it. */
  get withdrawn(): boolean {
    return this.#withdrawn;
  }

  /** Marks that the first calls have all they need. */
  start(): void {
    this.#change(() => {
      this.#started = true;
    });
  }

  /** Notes that another server is away, or back. It may be called at any time, also before `start`. */
  setAway(needed: Needed, away: boolean): void {
    this.#change(() => {
      if (away) this.#away.add(needed);
      else this.#away.delete(needed);
    });
  }

  /** Withdraws readiness for good: a database that comes back while the process ends must not restore it. */
  withdraw(): void {
    this.#change(() => {
      this.#withdrawn = true;
    });
  }

  /** Calls back on every change. */
  onChange(callback: () => void): void {
    this.#watchers.add(callback);
  }

  #change(by: () => void): void {
    const before = this.now();
    by();
    if (this.now() === before) return;
    for (const watcher of this.#watchers) watcher();
  }
}
