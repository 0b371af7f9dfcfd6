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

/** Unfinished texts of each account, oldest first; the accounts are in the order of their turns. */
type Accounts = Map<string, Task[]>;

/**
 * Queue of texts that wait for a worker or are being read, queries first. Of each kind accounts take turns, a chunk
 * each. An account's texts are read one after the other, in the order of arrival.
 */
export class EmbedQueue {
  readonly #accounts: Readonly<Record<Field, Accounts>> = { query: new Map(), text: new Map() };
  #queriesInARow = 0;

  /** Number of texts with a chunk that waits for a worker. */
  get byField(): Record<Field, number> {
    const { query, text } = this.#accounts;
    const waitingIn = (accounts: Accounts) => tasksIn(accounts).filter(({ next }) => next).length;
    return { query: waitingIn(query), text: waitingIn(text) };
  }

  /** Number of unfinished texts, whether they wait or are being read. */
  get size(): number {
    return sizeOf(this.#accounts.query) + sizeOf(this.#accounts.text);
  }

  /**
   * Adds a text; an account without other texts gets its turn after all others. An account may have as many places as
   * are free of the shared ones: one alone gets half of them, and others always have room for a first text.
   *
   * @throws MemoryError `unavailable` when too many texts wait already.
   */
  add(task: Task): void {
    const { field, owner } = task.input;
    const accounts = this.#accounts[field];
    const own = accounts.get(owner) ?? [];
    const size = sizeOf(accounts);
    if (own.length >= Math.max(1, SHARED_MAX - size)) {
      throw unavailable(`${own.length} calls of this account are waiting for the model already`);
    }
    if (size >= WAITING_MAX) throw unavailable(`${WAITING_MAX} calls are waiting for the model already`);
    accounts.set(owner, [...own, task]);
  }

  remove(task: Task): void {
    const { field, owner } = task.input;
    const accounts = this.#accounts[field];
    const others = (accounts.get(owner) ?? []).filter((each) => each !== task);
    if (others.length > 0) accounts.set(owner, others);
    else accounts.delete(owner);
  }

  /** The chunk whose turn it is; undefined if none waits. */
  get nextChunk(): Chunk | undefined {
    const [query, text] = [nextIn(this.#accounts.query), nextIn(this.#accounts.text)];
    return this.#queriesInARow >= QUERIES_IN_A_ROW_MAX ? (text ?? query) : (query ?? text);
  }

  /** Takes the next chunk of a text whose turn it is; its account has its next turn after all others. */
  take(task: Task): void {
    const { field, owner } = task.input;
    this.#queriesInARow = field === "query" ? this.#queriesInARow + 1 : 0;
    const accounts = this.#accounts[field];
    const tasks = accounts.get(owner) as Task[];
    accounts.delete(owner);
    accounts.set(owner, tasks);
    task.take();
  }

  /** All unfinished texts; of each account, the newest first. */
  get newestFirst(): Task[] {
    return Object.values(this.#accounts).flatMap((accounts) => tasksIn(accounts).reverse());
  }

  /**
   * Estimates the cost of all that is read until a text is done, whether it was added or not. Of its own kind (queries or
   * texts), that is the text, those of its account before it, and as much of each other account; and of the other kind,
   * its share of the turns.
   */
  costUntil(task: Task): number {
    const { query, text } = this.#accounts;
    const isText = task.input.field === "text";
    const [accounts, otherKind] = isText ? [text, query] : [query, text];
    const tasks = accounts.get(task.input.owner) ?? [];
    const at = tasks.indexOf(task);
    const own = costOf(at < 0 ? [...tasks, task] : tasks.slice(0, at + 1));
    let cost = own;
    for (const others of accounts.values()) if (others !== tasks) cost += Math.min(costOf(others), own);
    const share = cost * (isText ? QUERIES_IN_A_ROW_MAX : 1 / QUERIES_IN_A_ROW_MAX);
    return cost + Math.min(costOf(tasksIn(otherKind)), share);
  }
}

/** All unfinished texts; those of one account come oldest first. */
function tasksIn(accounts: Accounts): Task[] {
  return [...accounts.values()].flat();
}

function sizeOf(accounts: Accounts): number {
  let size = 0;
  for (const { length } of accounts.values()) size += length;
  return size;
}

/** The next chunk of the account whose turn it is; undefined if none waits. */
function nextIn(accounts: Accounts): Chunk | undefined {
  for (const tasks of accounts.values()) {
    // All chunks of an earlier text may be with workers.
    const waiting = tasks.find(({ next }) => next !== undefined);
    if (waiting !== undefined) return waiting.next;
  }
  return undefined;
}

/** Remaining cost of some texts. */
function costOf(tasks: readonly Task[]): number {
  let sum = 0;
  for (const { cost } of tasks) sum += cost;
  return sum;
}
