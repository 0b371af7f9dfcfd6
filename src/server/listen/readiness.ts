/** Other servers that calls need. */
type Needed = "database" | "embedding server";

/** State of whether this process should be sent calls; read by `/readyz` and gRPC health. */
export class Readiness {
  #started = false;
  readonly #away = new Set<Needed>();
  #withdrawn = false;
  /** State that the watchers know. */
  #told = false;
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
    this.#started = true;
    this.#tell();
  }

  /** Notes that another server is away, or back. It may be called at any time, also before `start`. */
  setAway(needed: Needed, away: boolean): void {
    if (away) this.#away.add(needed);
    else this.#away.delete(needed);
    this.#tell();
  }

  /** Withdraws readiness for good: a database that comes back while the process ends must not restore it. */
  withdraw(): void {
    this.#withdrawn = true;
    this.#tell();
  }

  /** Calls back on every change, until the function that is returned is called. */
  onChange(callback: () => void): () => void {
    this.#watchers.add(callback);
    return () => this.#watchers.delete(callback);
  }

  #tell(): void {
    const now = this.now();
    if (now === this.#told) return;
    this.#told = now;
    for (const watcher of this.#watchers) watcher();
  }
}
