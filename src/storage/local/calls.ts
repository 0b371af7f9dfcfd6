import { setImmediate as nextIteration } from "node:timers/promises";
import type { Database, RootDatabase } from "lmdb";
import {
  type CallRecord,
  type Calls,
  type CallsErasure,
  type CallsPlace,
  type CallsQuery,
  fits,
} from "../../accounts/calls/calls.js";
import { committed, durably, reading } from "./durably.js";

type Key = [accountId: string, id: string];
type StoredCall = Omit<CallRecord, "id" | "accountId">;
/** Id that sorts after every other. */
const AFTER_ALL = "~";
/** Records read or removed at a time, which takes about a millisecond. */
const SLICE = 250;

export class LocalCalls implements Calls {
  readonly #calls: Database<StoredCall, Key>;

  constructor(root: RootDatabase) {
    this.#calls = root.openDB("calls", { encoding: "json" });
  }

  async add(records: readonly CallRecord[]): Promise<void> {
    await committed(this.#calls, () => {
      for (const { id, accountId, ...call } of records) this.#calls.putSync([accountId, id], call);
    });
  }

  async list({ accountId, before, last = "", limit, ...filter }: CallsQuery): Promise<CallRecord[]> {
    const found: CallRecord[] = [];
    for (let start = before ?? AFTER_ALL; ; await nextIteration()) {
      const range = { start: [accountId, start] as Key, end: [accountId, ""] as Key, reverse: true };
      const slice = this.#slice(range);
      for (const { key, value } of slice) {
        if (key[1] < last) return found;
        if (!fits(value, filter)) continue;
        found.push({ id: key[1], accountId, ...value });
        if (found.length === limit) return found;
      }
      if (slice.length < SLICE) return found;
      start = slice.at(-1)?.key[1] as string;
    }
  }

  async idAt({ accountId, before, offset }: CallsPlace): Promise<string | undefined> {
    return reading(() => this.#idAt({ accountId, before, offset }));
  }

  async erase({ accountId, namespace, untilMs }: CallsErasure): Promise<void> {
    for (let start = ""; ; await nextIteration()) {
      const slice = this.#slice({ start: [accountId, start], end: [accountId, AFTER_ALL] });
      const isErased = ({ value }: (typeof slice)[number]) =>
        value.atMs <= untilMs && (namespace === undefined || value.namespace === namespace);
      await this.#remove(slice.filter(isErased));
      if (slice.length < SLICE) return;
      start = slice.at(-1)?.key[1] as string;
    }
  }

  async prune({ accountId, beforeMs, max }: Parameters<Calls["prune"]>[0]): Promise<boolean> {
    const old = reading(() => {
      const beyond = this.#idAt({ accountId, offset: max });
      const found = [];
      const oldestFirst = { start: [accountId, ""] as Key, end: [accountId, AFTER_ALL] as Key, limit: SLICE };
      for (const each of this.#calls.getRange(oldestFirst)) {
        if (each.value.atMs >= beforeMs && (beyond === undefined || each.key[1] > beyond)) break;
        found.push(each);
      }
      return found;
    });
    await this.#remove(old);
    return old.length === SLICE;
  }

  async nextAccount(after: string): Promise<string | undefined> {
    const [key] = reading(() => [...this.#calls.getKeys({ start: [after, AFTER_ALL], limit: 1 })]);
    return key?.[0];
  }

  #idAt({ accountId, before = AFTER_ALL, offset }: CallsPlace): string | undefined {
    const newestFirst = { start: [accountId, before] as Key, end: [accountId, ""] as Key, reverse: true };
    const [found] = this.#calls.getKeys({ ...newestFirst, exclusiveStart: true, offset, limit: 1 });
    return found?.[1];
  }

  #slice(range: { start: Key; end: Key; reverse?: boolean }) {
    return reading(() => [...this.#calls.getRange({ ...range, exclusiveStart: true, limit: SLICE })]);
  }

  async #remove(records: readonly { key: Key }[]): Promise<void> {
    if (records.length === 0) return;
    await durably(this.#calls, () => {
      for (const { key } of records) this.#calls.removeSync(key);
    });
  }
}
