import type { Accounts } from "../accounts/account.js";
import type { Usage } from "../accounts/usage.js";
import type { Claims } from "../memory/claims.js";
import type { Erasures } from "../memory/erasures.js";
import type { Formats } from "../memory/format.js";
import type { Log } from "../memory/log.js";
import type { Migration } from "../memory/migrating.js";
import type { Facts } from "../memory/plan.js";
import type { Recent } from "../memory/recent.js";

/** What every adapter opens: the ports, on one database. */
export interface Storage {
  readonly log: Log;
  readonly accounts: Accounts;
  readonly usage: Usage;
  readonly facts: Facts;
  readonly formats: Formats;
  /** From the oldest format of this kind of database to the latest that this program knows. */
  readonly migrations: readonly Migration[];
  readonly claims: Claims;
  readonly erasures: Erasures;
  readonly recent: Recent;
  /** No other process can be at work on this database. */
  readonly exclusive: boolean;
  /** @throws MemoryError `unavailable` when the database does not answer. */
  check(): Promise<void>;
  /** Writes a copy of all of it into a new file; only where the database can copy itself. */
  backUp?(path: string): Promise<void>;
  /** Lets go of the database; what was answered is kept. */
  close(): Promise<void>;
}
