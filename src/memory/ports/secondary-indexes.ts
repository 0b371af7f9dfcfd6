import type { Sequences, Stored } from "./log.js";

/**
 * The port to the secondary indexes of the logs: they find entries by other fields than their numbers, and change
 * with the log in one step. Every adapter passes `test/contract/secondary-indexes.ts`.
 *
 * All methods throw MemoryError `unavailable` if the database cannot answer.
 */
export interface SecondaryIndexes {
  /**
   * Finds the number of a memory's last version in this log; undefined if the log does not hold the memory, or
   * its last version was erased.
   */
  locate(request: { logId: string; id: string }): Promise<number | undefined>;

  /**
   * Finds the numbers of the memories' versions that operations wrote, erased or not, by the operations' ids;
   * those that the log never held are left out. An operation that stored a new memory has the memory's id, and
   * finds its last version. It takes up to 256 ids.
   */
  findByOperation(request: { logId: string; opIds: readonly string[] }): Promise<Map<string, number>>;

  /** Finds the number of the last memory that was stored with an external id; undefined if it was erased. */
  findByExternalId(request: { logId: string; externalId: string }): Promise<number | undefined>;

  /**
   * Finds the entries that replaced, superseded or deleted memories with these numbers. Those that are erased
   * may be left out.
   */
  findReplacements(request: Sequences): Promise<Replacement[]>;

  /**
   * Lists, in order, the numbers in a range that supersede memories, or that expire and are not erased: at most
   * `limit`, from `from` on.
   */
  listSupersedingAndExpiring(request: {
    logId: string;
    from: number;
    limit: number;
  }): Promise<SupersedingOrExpiring[]>;

  /** Lists memories of all logs that expire up to a time and are not erased, by time, after the given one. */
  expired(request: { untilMs: number; after?: Expiring | undefined; limit: number }): Promise<Expiring[]>;

  /** Lists memories of one log, or of all, that were replaced or deleted and are not erased yet, after the given one. */
  unerased(request: {
    logId?: string | undefined;
    after?: VersionAt | undefined;
    limit: number;
  }): Promise<VersionAt[]>;
}

/** An entry by which an earlier memory is no longer the present version of anything. */
export interface Replacement {
  /** The number of the earlier memory. */
  readonly target: number;
  /** The number of the entry. */
  readonly sequence: number;
  readonly how: "replaced" | "superseded" | "deleted";
  /** Id of the entry's memory; empty for a tombstone. */
  readonly id: string;
}

/** A number of a log that decides what recalls show. */
export interface SupersedingOrExpiring extends Pick<Stored, "supersedes" | "expiresAtMs"> {
  readonly sequence: number;
}

/** A version of a memory: the number of its entry in a log. */
export interface VersionAt {
  readonly logId: string;
  readonly sequence: number;
}

export interface Expiring extends VersionAt {
  readonly expiresAtMs: number;
}
