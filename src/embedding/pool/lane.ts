import type { Piece, Task } from "./task.js";

/**
 * Texts of one kind that wait for the model or are being read. Accounts take turns, a piece each; of
 * one account, all of a text comes before the next text, in the order of arrival.
 */
export class Lane {
  /** Each account's unfinished texts, oldest first; the accounts in the order of their turns. */
  readonly #turns = new Map<string, Task[]>();
  #size = 0;

  /** Texts that are not finished. */
  get size(): number {
    return this.#size;
  }

  /** Texts of which something waits for a reader. */
  get waiting(): number {
    return this.tasks.filter(({ next }) => next !== undefined).length;
  }

  /** All unfinished texts, those of one account oldest first. */
  get tasks(): Task[] {
    return [...this.#turns.values()].flat();
  }

  sizeOf(owner: string): number {
    return this.#turns.get(owner)?.length ?? 0;
  }

  /** An account that had nothing here has its turn after all others. */
  add(task: Task): void {
    const { owner } = task.input;
    const tasks = this.#turns.get(owner) ?? [];
    tasks.push(task);
    this.#turns.set(owner, tasks);
    this.#size++;
  }

  remove(task: Task): void {
    const { owner } = task.input;
    const tasks = this.#turns.get(owner) ?? [];
    const at = tasks.indexOf(task);
    if (at < 0) return;
    tasks.splice(at, 1);
    this.#size--;
    if (tasks.length === 0) this.#turns.delete(owner);
  }

  /** The piece whose turn it is. */
  get next(): Piece | undefined {
    for (const tasks of this.#turns.values()) {
      const piece = firstOf(tasks)?.next;
      if (piece !== undefined) return piece;
    }
    return undefined;
  }

  /** Takes the piece whose turn it is; its account has its next turn after all others. */
  take(): Piece | undefined {
    for (const [owner, tasks] of this.#turns) {
      const piece = firstOf(tasks)?.take();
      if (piece === undefined) continue;
      this.#turns.delete(owner);
      this.#turns.set(owner, tasks);
      return piece;
    }
    return undefined;
  }

  /** What is left to do for each account. */
  costs(): Map<string, number> {
    const costs = new Map<string, number>();
    for (const [owner, tasks] of this.#turns)
      costs.set(
        owner,
        tasks.reduce((sum, { cost }) => sum + cost, 0),
      );
    return costs;
  }
}

/** The first text of which something waits: several readers may have all that is left of an earlier one. */
function firstOf(tasks: readonly Task[]): Task | undefined {
  return tasks.find(({ next }) => next !== undefined);
}
