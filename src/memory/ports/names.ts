import { randomBytes } from "node:crypto";
import { type MemoryError, unavailable } from "../../errors.js";
import { FIRST_MODEL_VERSION, inModelVersion } from "./model-version.js";
import type { Lost, Records } from "./records.js";

/** A namespace of an account: names are unique within an account. */
export interface Scope {
  readonly accountId: string;
  readonly namespace: string;
}

/** The name of a log, whose id is that of its namespace. */
interface NameRecord {
  readonly id: string;
  readonly logId: string;
  /** Time of its last use, within some minutes; absent before the first one. */
  readonly usedAtMs?: number;
}

/**
 * The names of logs: each living namespace has one, which points to its log. The records of every adapter pass
 * `test/contract/names.ts`.
 *
 * All functions throw MemoryError `unavailable` if the database cannot answer; after such an error a write may
 * have happened or not.
 */
export type Names = ReturnType<typeof openNames>;

/** @param names records that have an index of their logs */
export function openNames(names: Records<NameRecord>) {
  const find = async (scope: Scope) => (await names.find(scopeId(scope)))?.logId;
  return {
    /** Finds the living log of a namespace; undefined if it does not exist. */
    find,

    /**
     * Finds the living log of a namespace, or creates one: in the given model version, by default in the first.
     * Concurrent calls all get the same log.
     */
    create: async (scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> => {
      // An existing name is only read: inserting would wait for the disk.
      const found = await find(scope);
      if (found !== undefined) return found;
      const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
      return (await names.findOrInsert({ id: scopeId(scope), logId })).logId;
    },

    /** Points a name to another log, if it still points to the given one. */
    rename: async (scope: Scope, { from, to }: { from: string; to: string }): Promise<void> => {
      await names.update({ id: scopeId(scope), logId: from }, { logId: to });
    },

    /** Removes the name of a log, if it still has it: the next `create` begins a new log. */
    retire: (scope: Scope, logId: string): Promise<void> => names.remove({ id: scopeId(scope), logId }),

    /** Finds the namespace whose name points to a log. */
    scopeOf: async (logId: string): Promise<Scope | undefined> => {
      const found = await names.findBy("logId", logId);
      return found && scopeIn(found.id);
    },

    /**
     * Lists living namespaces, after the given one: of all accounts, in a fixed order, or of one in the order of their
     * names' bytes, all or those whose names begin with `prefix`. It reads no other names. It lists fewer than `limit` only
     * if no more follow.
     */
    list: async ({ accountId, prefix = "", after, limit }: Listed): Promise<(Named | LostName)[]> => {
      const beginning = accountId && scopeId({ accountId, namespace: prefix });
      const found = await names.list({ limit, after: after && scopeId(after), prefix: beginning });
      return found.map(({ id, ...name }) => ({ scope: scopeIn(id), ...name }));
    },

    /** Records that a namespace was in use at this time, if it exists: a hint for the next start, so losing some is fine. */
    touch: async (scope: Scope, usedAtMs: number): Promise<void> => {
      await names.update({ id: scopeId(scope) }, { usedAtMs });
    },
    /** Lists the most recently used namespaces, newest first; the rest in any order. */
    recent: async (limit: number): Promise<Scope[]> =>
      (await names.greatest("usedAtMs", limit)).map(({ id }) => scopeIn(id)),
  };
}

export interface Listed {
  readonly accountId?: string | undefined;
  /** Only with an account. */
  readonly prefix?: string | undefined;
  readonly after?: Scope | undefined;
  readonly limit: number;
}

/** A namespace and its living log. */
export interface Named {
  readonly scope: Scope;
  readonly logId: string;
}

/** A name whose record is damaged, so that nobody knows its log. */
export type LostName = Pick<Named, "scope"> & Pick<Lost, "lost">;

/** Makes the error of a damaged name, for the operator. */
export function lostName({ scope: { accountId, namespace } }: LostName): MemoryError {
  return unavailable(`the record of the namespace ${namespace} of the account ${accountId} is damaged`);
}

/** Expects that no name is damaged. @throws MemoryError `unavailable`, which does not name it */
export function expectWhole(names: readonly (Named | LostName)[]): readonly Named[] {
  for (const name of names)
    if ("lost" in name) throw unavailable("the database could not be read", lostName(name));
  return names as readonly Named[];
}

/** Makes a namespace's id: `<account>:<namespace>`; account ids have no colon, so no two share one. */
export function scopeId({ accountId, namespace }: Scope): string {
  return `${accountId}:${namespace}`;
}

function scopeIn(id: string): Scope {
  const colon = id.indexOf(":");
  return { accountId: id.slice(0, colon), namespace: id.slice(colon + 1) };
}
