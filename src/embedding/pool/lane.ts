import type { Piece, Task } from "./task.js";

/**
 * A queue of texts of one kind that wait for the model or are being read. Accounts take turns, a piece
 * each. An account's texts are read one after the other, in the order of arrival.
 */
export class Lane {
  /** Unfinished texts of each account, oldest first, with the accounts in the order of their turns. */
  readonly #turns = new Map<string, Task[]>();
  #size = 0;

  /** Number of unfinished texts. */
  get size(): number {
    return this.#size;
  }

  /** Number of texts with a piece that waits for a reader. */
  get waiting(): number {
    return this.tasks.filter(({ next }) => next !== undefined).length;
  }

  /** All unfinished texts; those of one account come oldest first. */
  get tasks(): Task[] {
    return [...this.#turns.values()].flat();
  }

  sizeOf(owner: string): number {
    return this.#turns.get(owner)?.length ?? 0;
  }

  /** Adds a text; an account without other texts gets its turn after all others. */
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

  /** Next piece in turn, or undefined if none waits. */
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

  /** Returns the remaining cost of each account. */
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

/** Finds the first text with a waiting piece: readers may have all the pieces of an earlier one. */
function firstOf(tasks: readonly Task[]): Task | undefined {
  return tasks.find(({ next }) => next !== undefined);
}
