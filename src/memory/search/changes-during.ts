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
