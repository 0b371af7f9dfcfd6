import { unavailable } from "../../src/errors.js";
import type { Claim, Claims } from "../../src/memory/claims.js";
import { inEdition } from "../../src/memory/edition.js";
import type { Erasure, Erasures } from "../../src/memory/erasures.js";
import {
  type Appended,
  type Entry,
  type Log,
  type Scope,
  type Seen,
  type Several,
  type Stored,
  seen,
  type What,
} from "../../src/memory/log.js";
import type { VirtualTime } from "./time.js";

/** How a database may misbehave; each a probability per request. */
export interface Faults {
  /** The request never arrives, and the caller is told it failed. */
  readonly lost: number;
  /** The request arrives, and the answer does not: the caller is told it failed. */
  readonly unanswered: number;
  /** The caller is told it failed, and the request arrives long after that. */
  readonly late: number;
  /** The request arrives a second time, later. */
  readonly twice: number;
}

/** Where a deliberately broken database differs; each must be caught by the checks. */
export interface Mistakes {
  /** An ordered batch goes on behind a number that was taken. */
  readonly unordered?: boolean;
  /** A read may miss what was written just before it. */
  readonly staleReads?: boolean;
}

/** The truth of one simulated database, and its connections. */
export class Database {
  readonly logs = new Map<string, Map<number, Entry>>();
  readonly heads = new Map<string, string>();
  readonly claims = new Map<string, Claim>();
  readonly erasures = new Map<string, Erasure>();
  #incarnations = 0;

  constructor(
    readonly time: VirtualTime,
    readonly faults: Faults,
    readonly mistakes: Mistakes = {},
  ) {}

  /** One request of a process: it travels, takes effect, and its answer travels back, or not. */
  request<T>(process: { readonly alive: boolean }, effect: () => T | Promise<T>): Promise<T> {
    return this.time.whileAlive(process, this.#travel(effect));
  }

  async #travel<T>(effect: () => T | Promise<T>): Promise<T> {
    const { time, faults } = this;
    await this.#delay();
    if (time.chance(faults.lost)) throw unavailable("lost");
    if (time.chance(faults.late)) {
      time.at(time.between(0, 500), () => void effect());
      throw unavailable("late");
    }
    if (time.chance(faults.twice)) time.at(time.between(0, 500), () => void effect());
    const result = await effect();
    await this.#delay();
    if (time.chance(faults.unanswered)) throw unavailable("unanswered");
    return result;
  }

  /** Most messages are quick; some are overtaken by many others. */
  #delay(): Promise<void> {
    return this.time.sleep(this.time.between(0, this.time.chance(0.15) ? 200 : 5));
  }

  logOf(incarnation: string): Map<number, Entry> {
    const log = this.logs.get(incarnation) ?? new Map<number, Entry>();
    this.logs.set(incarnation, log);
    return log;
  }

  newIncarnation(): string {
    return `i${++this.#incarnations}`;
  }
}

/** The log as one process sees it. */
export function logOf(db: Database, process: { readonly alive: boolean }): Log {
  const { time } = db;
  return {
    find: (scope) => db.request(process, () => db.heads.get(keyOf(scope))),
    create: (scope, edition = "") =>
      db.request(process, () => {
        const head = db.heads.get(keyOf(scope)) ?? inEdition(db.newIncarnation(), edition);
        db.heads.set(keyOf(scope), head);
        return head;
      }),
    append: ({ incarnation, from, entries }) =>
      db.request(process, () => insert(db, { incarnation, from, entries })),
    read: ({ incarnation, from, limit, what }) =>
      db.request(process, () => {
        const log = db.logOf(incarnation);
        const end = db.mistakes.staleReads && time.chance(0.05) ? log.size : log.size + 1;
        const to = Math.min(end, from + Math.min(limit, sliceOf(time)));
        const numbers = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
        const entries = numbers.map((each) => ({
          sequence: each,
          entry: seen(log.get(each) as Entry, what),
        }));
        return { entries, complete: from + limit > end && to === end };
      }),
    last: (incarnation) =>
      db.request(process, () => {
        const sequence = db.logOf(incarnation).size;
        const entry = db.logOf(incarnation).get(sequence);
        return entry && { sequence, entry: seen(entry, "head") };
      }),
    fetch: <W extends What>({ incarnation, sequences, what }: Several & { what: W }) =>
      db.request(process, () => {
        const downwards = [...sequences].sort((a, b) => b - a);
        const looked = sliceOf(time);
        const found = downwards.slice(0, looked).flatMap((sequence) => {
          const entry = db.logOf(incarnation).get(sequence);
          return entry?.op === "store" ? [{ sequence, entry: seen(entry, what) as Seen[W] }] : [];
        });
        return { found, rest: downwards.slice(looked) };
      }),
    locate: ({ incarnation, id }) =>
      db.request(process, () => {
        const found = [...db.logOf(incarnation)].find(([, entry]) => entry.op === "store" && entry.id === id);
        return found?.[0];
      }),
    erase: ({ incarnation, sequences }) =>
      db.request(process, () => {
        for (const sequence of sequences) {
          const entry = db.logOf(incarnation).get(sequence);
          if (entry?.op === "store") db.logOf(incarnation).set(sequence, erased(entry));
        }
      }),
    retire: (scope, incarnation) =>
      db.request(process, () => {
        if (db.heads.get(keyOf(scope)) === incarnation) db.heads.delete(keyOf(scope));
      }),
    rename: (scope, { from, to }) =>
      db.request(process, () => {
        if (db.heads.get(keyOf(scope)) === from) db.heads.set(keyOf(scope), to);
      }),
    names: () => Promise.reject(new Error("not simulated")),
    list: () => Promise.reject(new Error("not simulated")),
    incarnations: () => Promise.reject(new Error("not simulated")),
    measure: () => Promise.reject(new Error("not simulated")),
  };
}

/** Entries that one slice holds: most often more than there are, and now and then few. */
function sliceOf(time: VirtualTime): number {
  return time.chance(0.2) ? 1 + Math.floor(time.between(0, 5)) : 1000;
}

/** Insert by insert, as a database does it: others come in between. */
async function insert(
  db: Database,
  { incarnation, from, entries }: { incarnation: string; from: number; entries: readonly Appended[] },
): Promise<number> {
  const log = db.logOf(incarnation);
  let inserted = 0;
  for (const [i, entry] of entries.entries()) {
    if (i > 0) await db.time.sleep(db.time.between(0, 2));
    if (log.has(from + i)) {
      if (!db.mistakes.unordered) return inserted;
      continue;
    }
    log.set(from + i, entry);
    inserted = i + 1;
  }
  return inserted;
}

function erased({ opId, id, tokens, createdAtMs }: Stored): Entry {
  return { op: "erased", opId, id, tokens, createdAtMs };
}

function keyOf({ accountId, namespace }: Scope): string {
  return `${accountId} ${namespace}`;
}

/** The claims as one process sees them. */
export function claimsOf(db: Database, process: { readonly alive: boolean }): Claims {
  return {
    claim: (claim) =>
      db.request(process, () => {
        const standing = db.claims.get(claim.id) ?? claim;
        db.claims.set(claim.id, standing);
        return standing;
      }),
    takeOver: ({ id, from, to, claimedAtMs }) =>
      db.request(process, () => {
        const standing = db.claims.get(id);
        if (standing?.owner !== from || standing.answer) return false;
        db.claims.set(id, { ...standing, owner: to, claimedAtMs });
        return true;
      }),
    answer: ({ id, answer }) =>
      db.request(process, () => {
        const standing = db.claims.get(id);
        if (standing) db.claims.set(id, { ...standing, answer });
      }),
    release: ({ id, owner }) =>
      db.request(process, () => {
        if (db.claims.get(id)?.owner === owner) db.claims.delete(id);
      }),
  };
}

/** The erasures as one process sees them. */
export function erasuresOf(db: Database, process: { readonly alive: boolean }): Erasures {
  return {
    begin: (erasure) => db.request(process, () => void db.erasures.set(erasure.id, erasure)),
    end: (id) => db.request(process, () => void db.erasures.delete(id)),
    pending: (limit) => db.request(process, () => [...db.erasures.values()].slice(0, limit)),
  };
}
