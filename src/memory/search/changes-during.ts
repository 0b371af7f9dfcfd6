/** Maximum number of memories that are noted as changed during a search; one with more is done again. */
const NOTED_MAX = 1_000;

export interface Change {
  readonly target: number;
  readonly how: "replaced" | "superseded" | "deleted";
  /** Number of the entry that changed it. */
  readonly by: number;
}

/** Memories that were replaced, superseded or deleted since a search began, which may have found them before. */
export class ChangesDuring {
  /** Number of the memory that replaced or superseded each; undefined for those that were deleted. */
  readonly replacements = new Map<number, number | undefined>();
  /** Those that were superseded. */
  readonly superseded = new Set<number>();
  /** True if there were more of them: what the search finds is of no use. */
  isIncomplete = false;

  note({ target, how, by }: Change): void {
    this.isIncomplete ||= this.replacements.size === NOTED_MAX;
    if (this.isIncomplete) return;
    this.replacements.set(target, how === "deleted" ? undefined : by);
    if (how === "superseded") this.superseded.add(target);
  }
}

/** The searches of one log that run now, each with what has changed since it began. */
export class RunningSearches {
  readonly #running = new Set<ChangesDuring>();

  async during<T>(search: (changes: ChangesDuring) => Promise<T>): Promise<T> {
    const noted = new ChangesDuring();
    this.#running.add(noted);
    try {
      return await search(noted);
    } finally {
      this.#running.delete(noted);
    }
  }

  note(change: Change): void {
    for (const noted of this.#running) noted.note(change);
  }
}
