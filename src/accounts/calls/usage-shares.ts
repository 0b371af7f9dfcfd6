import type { Account } from "../account.js";
import type { Authenticated } from "../authenticate.js";
import { sum } from "../count-usage.js";
import { type Counts, NOTHING } from "../usage.js";
import { PerAccount } from "./per-account.js";

/** Names of each kind that are counted apart for an account; the smallest is added to the rest first. */
export const COUNTED_APART_MAX = 128;
/** Names of each kind that are told apart in an answer: those with most calls. */
export const SHARES_MAX = 50;
/** Bytes of the counts of all accounts. */
export const SHARES_BYTES_MAX = 16_777_216;
/** Size of a name's counts in memory, without the name itself. */
const COUNTS_BYTES = 256;
/** Name of all that is not counted apart; no key and no namespace has it. */
const REST = "";

/** Usage of one key or namespace. The last one may have an empty name: it sums up all others. */
export interface Share extends Counts {
  readonly name: string;
}

export interface Shares {
  /** Shares of keys, named by their ids; keys that are gone are in the rest. */
  readonly keys: readonly Share[];
  readonly namespaces: readonly Share[];
  /** Time since when they are counted. */
  readonly sinceMs: number;
}

interface Counted {
  readonly keyHash: string;
  readonly namespace: string;
  readonly call: "store" | "recall";
  readonly tokens: number;
}

type ByName = Map<string, Counts>;

/**
 * Counts what the keys and the namespaces of each account use. The counts are in memory alone: another process
 * has its own, and they end with this one.
 */
export class UsageShares {
  readonly sinceMs = Date.now();
  readonly #of = new PerAccount<{ readonly keys: ByName; readonly namespaces: ByName }>({
    bytesMax: SHARES_BYTES_MAX,
    open: () => ({ keys: new Map(), namespaces: new Map() }),
  });

  /** Counts a call that succeeded. */
  count(accountId: string, { keyHash, namespace, call, tokens }: Counted): void {
    const used =
      call === "store"
        ? { ...NOTHING, stores: 1, tokensStored: tokens }
        : { ...NOTHING, recalls: 1, tokensQueried: tokens };
    this.#of.update(
      accountId,
      ({ keys, namespaces }) => add(keys, keyHash, used) + add(namespaces, namespace, used),
    );
  }

  /** Reads what a key may see: one for a single namespace sees its own share and that of its namespace. */
  read({ id, keys }: Pick<Account, "id" | "keys">, { keyHash, namespace }: Authenticated): Shares {
    const held = this.#of.get(id) ?? { keys: new Map(), namespaces: new Map() };
    const ids = new Map(keys.map((key) => [key.hash, key.id]));
    const isLimited = namespace !== undefined;
    const ofKeys = isLimited ? only(held.keys, keyHash) : held.keys;
    return {
      keys: sharesOf([...ofKeys].map(([hash, counts]) => [ids.get(hash) ?? REST, counts])),
      namespaces: sharesOf([...(isLimited ? only(held.namespaces, namespace) : held.namespaces)]),
      sinceMs: this.sinceMs,
    };
  }

  forget(accountId: string): void {
    this.#of.forget(accountId);
  }
}

/** Adds to the counts of a name. Answers by how many bytes the map has grown. */
function add(map: ByName, name: string, used: Counts): number {
  const before = map.get(name);
  map.set(name, sum(before ?? NOTHING, used));
  if (before !== undefined) return 0;
  return bytesOf(name) - (map.size > COUNTED_APART_MAX ? foldSmallest(map, name) : 0);
}

/** Adds the smallest counts, but not those of the name, to the rest. Answers how many bytes that frees. */
function foldSmallest(map: ByName, name: string): number {
  let smallest: string | undefined;
  for (const [each, counts] of map) {
    if (each === name || each === REST) continue;
    if (smallest === undefined || callsOf(counts) < callsOf(map.get(smallest) ?? NOTHING)) smallest = each;
  }
  if (smallest === undefined) return 0;
  const rest = map.get(REST);
  map.set(REST, sum(rest ?? NOTHING, map.get(smallest) ?? NOTHING));
  map.delete(smallest);
  return bytesOf(smallest) - (rest === undefined ? bytesOf(REST) : 0);
}

/** Orders shares by their calls. What goes beyond the bound, and what has no name, is summed up at the end. */
function sharesOf(found: readonly (readonly [string, Counts])[]): Share[] {
  const named = found.filter(([name]) => name !== REST);
  const ordered = named.sort(([, a], [, b]) => callsOf(b) - callsOf(a));
  const shown = ordered.slice(0, SHARES_MAX).map(([name, counts]) => ({ name, ...counts }));
  const others = [...ordered.slice(SHARES_MAX), ...found.filter(([name]) => name === REST)];
  if (others.length === 0) return shown;
  return [...shown, { name: REST, ...others.reduce((all, [, counts]) => sum(all, counts), NOTHING) }];
}

function only(map: ByName, name: string): [string, Counts][] {
  const counts = map.get(name);
  return counts === undefined ? [] : [[name, counts]];
}

function callsOf({ stores, recalls }: Counts): number {
  return stores + recalls;
}

/** Size of a name and its counts: a character takes up to two bytes. */
function bytesOf(name: string): number {
  return COUNTS_BYTES + 2 * name.length;
}
