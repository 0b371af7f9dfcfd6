import { type MemoryError, unavailable } from "../../errors.js";
import type { ModelVersion } from "./model-version.js";

/** A namespace of an account: names are unique within an account. */
export interface Scope {
  readonly accountId: string;
  readonly namespace: string;
}

/**
 * The port to the names of logs: each living namespace has one, which points to its log. Every adapter passes
 * `test/contract/names.ts`.
 *
 * All methods throw MemoryError `unavailable` if the database cannot answer; after such an error a write may
 * have happened or not.
 */
export interface Names {
  /** Finds the living log of a namespace; undefined if it does not exist. */
  find(scope: Scope): Promise<string | undefined>;

  /**
   * Finds the living log of a namespace, or creates one: in the given model version, by default in the
   * first.
   */
  create(scope: Scope, modelVersion?: ModelVersion): Promise<string>;

  /** Points a name to another log, if it still points to the given one. */
  rename(scope: Scope, request: { from: string; to: string }): Promise<void>;

  /** Removes the name of a log, if it still has it: the next `create` begins a new log. */
  retire(scope: Scope, logId: string): Promise<void>;

  /** Finds the namespace whose name points to a log. */
  scopeOf(logId: string): Promise<Scope | undefined>;

  /**
   * Lists living namespaces, after the given one: of all accounts, in a fixed order, or of one in the order of their
   * names' bytes, all or those whose names begin with `prefix`. It reads no other names. It lists fewer than `limit` only
   * if no more follow.
   */
  list(request: Listed): Promise<Named[]>;
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

/** The port to the recently used namespaces: a hint for the next start, so losing some is fine. */
export interface Recent {
  /** Records that a namespace was in use at this time. */
  touch(scope: Scope, atMs: number): Promise<void>;
  /** Lists the most recently used namespaces, newest first. */
  list(limit: number): Promise<Scope[]>;
  forget(scope: Scope): Promise<void>;
}
