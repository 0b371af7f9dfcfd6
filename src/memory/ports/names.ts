import { randomBytes } from "node:crypto";
import { type MemoryError, unavailable } from "../../errors.js";
import { FIRST_MODEL_VERSION, inModelVersion } from "./model-version.js";
import type { Records } from "./records.js";

/** A namespace of an account: names are unique within an account. */
export interface Scope {
  readonly accountId: string;
  readonly namespace: string;
}

/** The name of a log, whose id is that of its namespace. */
export interface NameRecord {
  readonly id: string;
  readonly logId: string;
  /** Time of its last use, within some minutes; absent before the first one. */
  readonly usedAtMs?: number;
}

export type Names = ReturnType<typeof namesIn>;

/**
 * Opens the names of logs, which are records with an index of their logs: each living namespace has one, which points to
 * its log.
 *
 * All methods throw MemoryError `unavailable` if the database cannot answer; after such an error a write may
 * have happened or not.
 */
export function namesIn(names: Records<NameRecord>) {
  /** Finds the living log of a namespace; undefined if it does not exist. */
  const find = async (scope: Scope): Promise<string | undefined> => (await names.find(idOf(scope)))?.logId;
  /**
   * Lists living namespaces, after the given one: of all accounts, in a fixed order, or of one in the order of their
   * names' bytes, all or those whose names begin with `prefix`. It reads no other names. It lists fewer than `limit` only
   * if no more follow.
   */
  const list = async ({ after, limit, ...which }: Listed): Promise<Named[]> => {
    const { accountId, prefix = "", onLost = unreadable } = which;
    const beginning = accountId && idOf({ accountId, namespace: prefix });
    const found = await names.list({ limit, after: after && idOf(after), prefix: beginning });
    const named: Named[] = [];
    for (const name of found) {
      if ("lost" in name) onLost(scopeIn(name.id));
      else named.push({ scope: scopeIn(name.id), logId: name.logId });
    }
    const last = found.at(-1);
    if (last === undefined || found.length < limit || named.length === limit) return named;
    // Those in the place of damaged ones.
    const more = await list({ ...which, after: scopeIn(last.id), limit: limit - named.length });
    return [...named, ...more];
  };
  return {
    find,
    list,
    /**
     * Finds the living log of a namespace, or creates one, in the first model version when left out; concurrent calls
     * all get the same log.
     */
    create: async (scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> => {
      // An existing name is only read: inserting would wait for the disk.
      const found = await find(scope);
      if (found !== undefined) return found;
      const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
      return (await names.findOrInsert({ id: idOf(scope), logId })).logId;
    },
    /** Points a name to another log, if it still points to the given one. */
    rename: async (scope: Scope, { from, to }: { from: string; to: string }): Promise<void> => {
      await names.update({ id: idOf(scope), logId: from }, { logId: to });
    },
    /** Removes the name of a log, if it still has it: the next `create` begins a new log. */
    retire: (scope: Scope, logId: string): Promise<void> => names.remove({ id: idOf(scope), logId }),
    /** Finds the namespace whose name points to a log. */
    scopeOf: async (logId: string): Promise<Scope | undefined> => {
      const found = await names.findBy("logId", logId);
      return found && scopeIn(found.id);
    },
    /** Records that a namespace was in use at this time, if it exists: a hint for the next start, so losing some is fine. */
    touch: async (scope: Scope, usedAtMs: number): Promise<void> => {
      await names.update({ id: idOf(scope) }, { usedAtMs });
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
  /** Called for each name whose record is damaged, which is left out; without it, one such fails the list. */
  readonly onLost?: ((scope: Scope) => void) | undefined;
}

/** The error of a name whose record is damaged, so that nobody knows its log; for the operator. */
export function lostName({ accountId, namespace }: Scope): MemoryError {
  return unavailable(`the record of the namespace ${namespace} of the account ${accountId} is damaged`);
}

/** A namespace and its living log. */
export interface Named {
  readonly scope: Scope;
  readonly logId: string;
}

function unreadable(scope: Scope): never {
  throw unavailable("the database could not be read", lostName(scope));
}

/** Makes a namespace's id: `<account>:<namespace>`; account ids have no colon. */
function idOf({ accountId, namespace }: Scope): string {
  return `${accountId}:${namespace}`;
}

function scopeIn(id: string): Scope {
  const colon = id.indexOf(":");
  return { accountId: id.slice(0, colon), namespace: id.slice(colon + 1) };
}
