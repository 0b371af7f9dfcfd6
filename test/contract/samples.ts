import { randomUUID } from "node:crypto";
import type { Account, Accounts, KeyOf } from "../../src/accounts/account.js";
import { type Key, makeKey } from "../../src/accounts/key.js";
import type {
  Entry,
  Log,
  Projected,
  Projection,
  Range,
  Sequenced,
  Sequences,
  Stored,
} from "../../src/memory/ports/log.js";
import type { Scope } from "../../src/memory/ports/names.js";
import { fetchAll } from "../../src/memory/versions/fetch.js";

/** Makes a memory. Values that are not given are made up and differ from call to call. */
export function aMemory(given: Partial<Stored> = {}): Stored {
  const opId = randomUUID();
  return {
    op: "store",
    opId,
    id: `mem_${opId}`,
    text: `text of ${opId}`,
    metadata: "{}",
    vectors: Float32Array.from({ length: 8 }, Math.random),
    tokens: 4,
    createdAtMs: Date.now(),
    ...given,
  };
}

export function memories(count: number): Stored[] {
  return Array.from({ length: count }, () => aMemory());
}

/** Makes a namespace of an account that no other test has. */
export function aScope(namespace = "notes"): Scope {
  return { accountId: `acc_${randomUUID()}`, namespace };
}

/** Makes the id of a log that has no entries. */
export function anLogId(): string {
  return randomUUID().replaceAll("-", "").slice(0, 20);
}

/** Makes a stored key, whose secret is unknown. */
export function aKey(given: Partial<Key> = {}): Key {
  return { ...makeKey({ name: "a key" }).key, ...given };
}

/** Gives a key of an account another end. */
export function endAt(accounts: Accounts, { accountId, keyId }: KeyOf, expiresAtMs: number) {
  return accounts.change(accountId, (account) => ({
    ...account,
    keys: account.keys.map((key) => (key.id === keyId ? { ...key, expiresAtMs } : key)),
  }));
}

export function anAccount(given: Partial<Account> = {}): Account {
  return {
    id: `acc_${randomUUID()}`,
    email: "",
    plan: "free",
    callsLimit: 1000,
    callsLeft: 1000,
    keys: [aKey()],
    createdAtMs: Date.now(),
    ...given,
  };
}

/** Reads up to `limit` entries of a log in full, slice by slice. */
export async function entriesOf<W extends Projection = "all">(
  log: Pick<Log, "read">,
  { logId, from, limit, projection = "all" as W }: Omit<Range, "projection"> & { readonly projection?: W },
): Promise<Sequenced<Entry<W>>[]> {
  const entries: Sequenced<Entry<W>>[] = [];
  for (let complete = false; !complete && entries.length < limit; ) {
    const left = { from: from + entries.length, limit: limit - entries.length };
    const slice = await log.read({ logId, ...left, projection });
    entries.push(...slice.entries);
    complete = slice.complete;
  }
  return entries;
}

/** Reads the memories with these numbers, slice by slice. */
export async function memoriesOf<W extends Projection = "all">(
  log: Pick<Log, "fetch">,
  { projection = "all" as W, ...request }: Sequences & { readonly projection?: W },
): Promise<Sequenced<Projected[W]>[]> {
  const found: Sequenced<Projected[W]>[] = [];
  for await (const some of fetchAll(log, { ...request, projection })) found.push(...some);
  return found;
}

/** Makes the next version of a memory. */
export function nextOf(memory: Stored, replaces: number, given: Partial<Stored> = {}): Stored {
  const { id, createdAtMs } = memory;
  return aMemory({ id, createdAtMs, updatedAtMs: createdAtMs + 1, replaces, ...given });
}
