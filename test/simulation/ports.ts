import type { Accounts } from "../../src/accounts/account.js";
import type { Claims } from "../../src/memory/ports/claims.js";
import type { Erasures } from "../../src/memory/ports/erasures.js";
import {
  type Appended,
  type Entry,
  type Erased,
  forgottenBy,
  type Log,
  type Projected,
  type Projection,
  remainderOf,
  type Sequences,
  type Stored,
} from "../../src/memory/ports/log.js";
import { inModelVersion, type SystemRecords } from "../../src/memory/ports/model-version.js";
import type { Names } from "../../src/memory/ports/names.js";
import type {
  Expiring,
  Replacement,
  SecondaryIndexes,
  SupersedingOrExpiring,
} from "../../src/memory/ports/secondary-indexes.js";
import { project } from "../support/project.js";
import { type Client, type Database, keyOf, scopeOf } from "./database.js";
import type { VirtualTime } from "./time.js";

/** Makes the log as one process sees it. */
export function logOf(db: Database, process: Client): Log {
  const { time } = db;
  return {
    append: ({ logId, from, entries }) => db.request(process, () => insert(db, { logId, from, entries })),
    read: ({ logId, from, limit, projection }) =>
      db.request(process, () => {
        const log = db.logOf(logId);
        const end = db.mistakes.staleReads && time.chance(0.05) ? log.size : log.size + 1;
        const to = Math.min(end, from + Math.min(limit, sliceOf(time)));
        const numbers = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
        const entries = numbers.map((each) => ({
          sequence: each,
          entry: project(log.get(each) as Entry, projection),
        }));
        return { entries, complete: from + limit > end && to === end };
      }),
    last: (logId) =>
      db.request(process, () => {
        const sequence = db.logOf(logId).size;
        const entry = db.logOf(logId).get(sequence);
        return entry && { sequence, entry: project(entry, "header") };
      }),
    fetch: <W extends Projection>({ logId, sequences, projection }: Sequences & { projection: W }) =>
      db.request(process, () => {
        const downwards = [...sequences].sort((a, b) => b - a);
        const looked = sliceOf(time);
        const found = downwards.slice(0, looked).flatMap((sequence) => {
          const entry = db.logOf(logId).get(sequence);
          return entry?.op === "store"
            ? [{ sequence, entry: project(entry, projection) as Projected[W] }]
            : [];
        });
        return { found, rest: downwards.slice(looked) };
      }),
    erase: ({ logId, sequences }) =>
      db.request(process, () => {
        for (const sequence of sequences) {
          const entry = db.logOf(logId).get(sequence);
          if (entry?.op === "store") db.logOf(logId).set(sequence, remainderOf(entry));
        }
      }),
    measure: ({ logId }) =>
      db.request(process, () => {
        const memories = [...db.logOf(logId).values()].filter(({ op }) => op === "store").length;
        return { memories, bytes: memories };
      }),
    logIds: ({ after, limit }) =>
      db.request(process, () => {
        const written = sorted(db.logs).filter(([id, log]) => id > after && log.size > 0);
        return written.slice(0, limit).map(([id]) => id);
      }),
  };
}

/** Makes the names of logs as one process sees them. */
export function namesOf(db: Database, process: Client): Names {
  return {
    find: (scope) => db.request(process, () => db.heads.get(keyOf(scope))),
    create: (scope, modelVersion = "") =>
      db.request(process, () => {
        const head = db.heads.get(keyOf(scope)) ?? inModelVersion(db.newLogId(), modelVersion);
        db.heads.set(keyOf(scope), head);
        return head;
      }),
    rename: (scope, { from, to }) =>
      db.request(process, () => {
        if (db.heads.get(keyOf(scope)) === from) db.heads.set(keyOf(scope), to);
      }),
    retire: (scope, logId) =>
      db.request(process, () => {
        if (db.heads.get(keyOf(scope)) === logId) db.heads.delete(keyOf(scope));
      }),
    scopeOf: (logId) =>
      db.request(process, () => {
        const named = [...db.heads].find(([, head]) => head === logId);
        return named && scopeOf(named[0]);
      }),
    list: ({ accountId, after, limit }) =>
      db.request(process, () => {
        const first = after === undefined ? "" : keyOf(after);
        const some = sorted(db.heads).filter(([key]) => key > first);
        const named = some.map(([key, logId]) => ({ scope: scopeOf(key), logId }));
        const wanted = named.filter(({ scope }) => accountId === undefined || scope.accountId === accountId);
        return wanted.slice(0, limit);
      }),
    touch: async (scope) => {
      await db.request(process, () => {
        if (db.heads.has(keyOf(scope))) db.used.add(keyOf(scope));
      });
      // A database may take long for it.
      await db.request(process, () => {});
    },
    recent: (limit) =>
      db.request(process, () => {
        const used = [...db.used].filter((key) => db.heads.has(key));
        return used.slice(0, limit).map(scopeOf);
      }),
  };
}

/** Makes the secondary indexes of the log as one process sees them. */
export function secondaryIndexesOf(db: Database, process: Client): SecondaryIndexes {
  return {
    locate: ({ logId, id }) =>
      db.request(process, () => {
        const found = last(db.logOf(logId), (memory) => memory.id === id);
        return found?.[1].op === "store" ? found[0] : undefined;
      }),
    findByOperation: ({ logId, opIds }) =>
      db.request(process, () => {
        const held = opIds.flatMap((opId) => {
          const first = last(db.logOf(logId), ({ id }) => id === opId);
          const found = first ?? last(db.logOf(logId), (memory) => memory.opId === opId);
          return found === undefined ? [] : [[opId, found[0]] as const];
        });
        return new Map(held);
      }),
    findByExternalId: ({ logId, externalId }) =>
      db.request(process, () => {
        return last(db.logOf(logId), (it) => it.op === "store" && it.externalId === externalId)?.[0];
      }),
    findReplacements: ({ logId, sequences }) =>
      db.request(process, () => successorsIn(db.logOf(logId)).filter((s) => sequences.includes(s.target))),
    listSupersedingAndExpiring: ({ logId, from, limit }) =>
      db.request(process, () => specialIn(db.logOf(logId), from).slice(0, limit)),
    expired: ({ untilMs, after, limit }) =>
      db.request(process, () => {
        const all = sorted(db.logs).flatMap(([logId, log]) => expiringIn(logId, log));
        const due = all.filter(({ expiresAtMs }) => expiresAtMs <= untilMs);
        due.sort((a, b) => a.expiresAtMs - b.expiresAtMs);
        const from = due.findIndex((it) => it.logId === after?.logId && it.sequence === after.sequence) + 1;
        return due.slice(from, from + limit);
      }),
    unerased: ({ logId, after, limit }) =>
      db.request(process, () => {
        const all = sorted(db.logs).flatMap((each) => unerasedIn(...each));
        const asked = all.filter((it) => logId === undefined || it.logId === logId);
        const from = asked.findIndex((it) => it.logId === after?.logId && it.sequence === after.sequence) + 1;
        return asked.slice(from, from + limit);
      }),
  };
}

/** Number of entries of one slice, which mostly holds all of them and sometimes a few. */
function sliceOf(time: VirtualTime): number {
  return time.chance(0.2) ? 1 + Math.floor(time.between(0, 5)) : 1000;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Inserts one by one, as a database does, so that others come in between. */
async function insert(
  db: Database,
  { logId, from, entries }: { logId: string; from: number; entries: readonly Appended[] },
): Promise<number> {
  const log = db.logOf(logId);
  let inserted = 0;
  for (const [i, entry] of entries.entries()) {
    if (i > 0) await db.time.sleep(db.time.between(0, 2));
    if (log.has(from + i)) {
      if (!db.mistakes.unordered) return inserted;
      continue;
    }
    log.set(from + i, entry);
    if (entry.op === "store") db.written.push({ text: entry.text, bill: entry.tokens });
    inserted = i + 1;
  }
  return inserted;
}

type Memories = Stored | Erased;

/** Finds the last memory, erased or not, that fits. */
function last(log: ReadonlyMap<number, Entry>, fits: (memory: Memories) => boolean) {
  const all = [...log].filter((each): each is [number, Memories] => isMemory(each[1]) && fits(each[1]));
  return all.sort(([a], [b]) => b - a)[0];
}

function isMemory(entry: Entry): entry is Memories {
  return entry.op === "store" || entry.op === "erased";
}

function successorsIn(log: ReadonlyMap<number, Entry>): Replacement[] {
  return [...log].flatMap(([sequence, entry]): Replacement[] => {
    if (entry.op === "delete") return [{ target: entry.target, sequence, how: "deleted", id: "" }];
    if (!isMemory(entry)) return [];
    const { id, replaces, supersedes = [] } = entry;
    const replaced =
      replaces === undefined ? [] : [{ target: replaces, sequence, how: "replaced", id } as const];
    return [
      ...replaced,
      ...supersedes.map((target) => ({ target, sequence, how: "superseded", id }) as const),
    ];
  });
}

function specialIn(log: ReadonlyMap<number, Entry>, from: number): SupersedingOrExpiring[] {
  return [...log].flatMap(([sequence, entry]): SupersedingOrExpiring[] => {
    if (!isMemory(entry) || sequence < from) return [];
    const { supersedes, expiresAtMs } = entry as Partial<Stored>;
    if (supersedes === undefined && expiresAtMs === undefined) return [];
    return [
      { sequence, ...(supersedes && { supersedes }), ...(expiresAtMs !== undefined && { expiresAtMs }) },
    ];
  });
}

function expiringIn(logId: string, log: ReadonlyMap<number, Entry>): Expiring[] {
  return [...log].flatMap(([sequence, entry]) => {
    if (entry.op !== "store" || entry.expiresAtMs === undefined) return [];
    return [{ logId, sequence, expiresAtMs: entry.expiresAtMs }];
  });
}

function unerasedIn(logId: string, log: ReadonlyMap<number, Entry>) {
  return [...log.values()].flatMap((entry) => {
    const sequence = forgottenBy(entry);
    return sequence !== undefined && log.get(sequence)?.op === "store" ? [{ logId, sequence }] : [];
  });
}

/** Makes the claims as one process sees them. */
export function claimsOf(db: Database, process: Client): Claims {
  return {
    find: (id) => db.request(process, () => db.claims.get(id)),
    findOrInsert: (claim) =>
      db.request(process, () => {
        const existing = db.claims.get(claim.id) ?? claim;
        db.claims.set(claim.id, existing);
        return existing;
      }),
    // The domain asks for claims without an answer alone.
    update: ({ id, owner }, set) => {
      const asked = db.request(process, () => {
        const existing = db.claims.get(id);
        if (existing === undefined || existing.answer || ![undefined, existing.owner].includes(owner))
          return false;
        db.claims.set(id, { ...existing, ...set });
        return true;
      });
      asked.catch(() => (db.hasLostRefund ||= set.claimedAtMs === 0));
      return asked;
    },
    remove: ({ id = "", owner }) =>
      db.request(process, () => {
        if (db.claims.get(id)?.owner === owner) db.claims.delete(id);
      }),
  };
}

/** Makes the erasures as one process sees them. */
export function erasuresOf(db: Database, process: Client): Erasures {
  return {
    findOrInsert: (erasure) =>
      db.request(process, () => {
        const found = db.erasures.get(erasure.id) ?? erasure;
        db.erasures.set(erasure.id, found);
        return found;
      }),
    remove: ({ id = "" }) => db.request(process, () => void db.erasures.delete(id)),
    list: ({ limit, after = "" }) =>
      db.request(process, () => {
        const behind = [...db.erasures.values()].filter(({ id }) => id > after);
        return behind.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      }),
  };
}

/** Makes the system records as one process sees them. */
export function systemRecordsOf(db: Database, process: Client): SystemRecords {
  return {
    models: () => db.request(process, () => db.models),
    pin: ({ after, to }) =>
      db.request(process, () => {
        if (db.models.at(-1)?.modelVersion !== after) return false;
        db.models = [...db.models, to];
        return true;
      }),
  };
}

/** Makes the accounts as one process sees them. Calls that no schedule makes are refused. */
export function accountsOf(db: Database, process: Client): Accounts {
  const notSimulated = () => Promise.reject(new Error("not simulated"));
  const currentByExternalId = (keyHash: string) =>
    [...db.accounts.values()].find(({ keys }) => keys.some(({ hash }) => hash === keyHash));
  const change = (accountId: string, by: number) => {
    const account = db.accounts.get(accountId);
    if (account) db.accounts.set(accountId, { ...account, callsLeft: account.callsLeft + by });
  };
  return {
    find: (accountId) => db.request(process, () => db.accounts.get(accountId)),
    findByKey: (keyHash) => db.request(process, () => currentByExternalId(keyHash)),
    charge: ({ accountId, keyHash, calls = 1 }) => {
      const charge = () => {
        if ((currentByExternalId(keyHash)?.callsLeft ?? 0) < calls) return false;
        change(accountId, -calls);
        return true;
      };
      return db.request(process, charge, { isAtMostOnce: true });
    },
    refund: (accountId, calls = 1) =>
      db.request(process, () => change(accountId, calls), { isAtMostOnce: true }),
    remove: (accountId) => db.request(process, () => void db.accounts.delete(accountId)),
    isClosed: (accountId) => db.request(process, () => !db.accounts.has(accountId)),
    create: notSimulated,
    list: notSimulated,
    change: notSimulated,
  };
}
