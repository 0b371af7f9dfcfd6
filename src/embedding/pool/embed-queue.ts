import { unavailable } from "../../errors.js";
import type { EmbedInput } from "../../memory/ports/embedder.js";
import type { Chunk, Task } from "./task.js";

/** Maximum number of unfinished texts, and of queries: a burst of stores does not turn recalls away. */
export const WAITING_MAX = 1024;
/**
 * Number of these places that accounts with several texts share; the rest is for the first text of
 * others.
 */
export const SHARED_MAX = 512;

/**
 * Number of queries' chunks after which one chunk of a text gets its turn, so that a burst of recalls
 * does not stop all stores.
 */
const QUERIES_IN_A_ROW_MAX = 8;

type Field = EmbedInput["field"];

/** Queue of texts that wait for a worker or are being read, queries first. */
export class EmbedQueue {
  readonly #queues: Record<Field, AccountQueue> = { query: new AccountQueue(), text: new AccountQueue() };
  #queriesInARow = 0;

  /** Number of texts that wait for a worker, whole or in part. */
  get byField(): Record<Field, number> {
    return { query: this.#queues.query.waiting, text: this.#queues.text.waiting };
  }

  /** Number of unfinished texts, whether they wait or are being read. */
  get size(): number {
    return this.#queues.query.size + this.#queues.text.size;
  }

  /**
   * Adds a text. An account may have as many places as are free of the shared ones: one alone gets half
   * of them, and others always have room for a first text.
   *
   * @throws MemoryError `unavailable` when too many texts wait already.
   */
  add(task: Task): void {
    const { field, owner } = task.input;
    const queue = this.#queues[field];
    const own = queue.sizeOf(owner);
    if (own >= Math.max(1, SHARED_MAX - queue.size)) {
      throw unavailable(`${own} calls of this account are waiting for the model already`);
    }
    if (queue.size >= WAITING_MAX)
      throw unavailable(`${WAITING_MAX} calls are waiting for the model already`);
    queue.add(task);
  }

  remove(task: Task): void {
    this.#queues[task.input.field].remove(task);
  }

  /** Next chunk in turn, or undefined if none waits. */
  get first(): Chunk | undefined {
    const [query, text] = [this.#queues.query.next, this.#queues.text.next];
    return this.#queriesInARow >= QUERIES_IN_A_ROW_MAX ? (text ?? query) : (query ?? text);
  }

  /** Takes the next chunk of a text whose turn it is. */
  take(task: Task): void {
    const { field } = task.input;
    this.#queriesInARow = field === "query" ? this.#queriesInARow + 1 : 0;
    this.#queues[field].take(task);
  }

  /** All unfinished texts; of each account the last one comes first. */
  get lastFirst(): Task[] {
    return Object.values(this.#queues).flatMap(({ tasks }) => tasks.toReversed());
  }

  /**
   * Returns the cost of all that is read until a text is done, which need not be added yet: that of its own queue, and
   * the share of the other one.
   */
  costUntil(task: Task): number {
    const { query, text } = this.#queues;
    const isText = task.input.field === "text";
    const [own, beside] = isText ? [text, query] : [query, text];
    const cost = own.costUntil(task);
    return cost + Math.min(beside.cost, cost * (isText ? QUERIES_IN_A_ROW_MAX : 1 / QUERIES_IN_A_ROW_MAX));
  }
}

/**
 * A queue of texts of one kind that wait for the model or are being read. Accounts take turns, a chunk
 * each. An account's texts are read one after the other, in the order of arrival.
 */
class AccountQueue {
  /** Unfinished texts of each account, oldest first, with the accounts in the order of their turns. */
  readonly #tasksByAccount = new Map<string, Task[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of texts with a chunk that waits for a worker. */
  get waiting(): number {
    return this.tasks.filter(({ next }) => next !== undefined).length;
  }

  /** All unfinished texts; those of one account come oldest first. */
  get tasks(): Task[] {
    return [...this.#tasksByAccount.values()].flat();
  }

  sizeOf(owner: string): number {
    return this.#tasksByAccount.get(owner)?.length ?? 0;
  }

  /** Adds a text; an account without other texts gets its turn after all others. */
  add(task: Task): void {
    const { owner } = task.input;
    const tasks = this.#tasksByAccount.get(owner) ?? [];
    tasks.push(task);
    this.#tasksByAccount.set(owner, tasks);
    this.#size++;
  }

  remove(task: Task): void {
    const { owner } = task.input;
    const tasks = this.#tasksByAccount.get(owner) ?? [];
    const at = tasks.indexOf(task);
    if (at < 0) return;
    tasks.splice(at, 1);
    this.#size--;
    if (tasks.length === 0) this.#tasksByAccount.delete(owner);
  }

  /** Next chunk in turn, or undefined if none waits. */
  get next(): Chunk | undefined {
    for (const tasks of this.#tasksByAccount.values()) {
      // Workers may have all the chunks of an earlier text.
      const waiting = tasks.find(({ next }) => next !== undefined);
      if (waiting !== undefined) return waiting.next;
    }
    return undefined;
  }

  /** Takes a text's next chunk; its account has its next turn after all others. */
  take(task: Task): void {
    const { owner } = task.input;
    const tasks = this.#tasksByAccount.get(owner) as Task[];
    this.#tasksByAccount.delete(owner);
    this.#tasksByAccount.set(owner, tasks);
    task.take();
  }

  /** Remaining cost of all texts. */
  get cost(): number {
    let sum = 0;
    for (const tasks of this.#tasksByAccount.values()) sum += sumOf(tasks);
    return sum;
  }

  /** Returns the cost of a text and those of its account before it, and as much of each other account. */
  costUntil(task: Task): number {
    const tasks = this.#tasksByAccount.get(task.input.owner) ?? [];
    const at = tasks.indexOf(task);
    const own = at < 0 ? sumOf(tasks) + task.cost : sumOf(tasks.slice(0, at + 1));
    let sum = own;
    for (const others of this.#tasksByAccount.values()) {
      if (others !== tasks) sum += Math.min(sumOf(others), own);
    }
    return sum;
  }
}

function sumOf(tasks: readonly Task[]): number {
  let sum = 0;
  for (const { cost } of tasks) sum += cost;
  return sum;
}
