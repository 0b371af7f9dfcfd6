import type { Accounts } from "../accounts/account.js";
import type { Usage } from "../accounts/usage.js";
import type { Formats } from "../memory/format/format.js";
import type { Migration } from "../memory/format/migrating.js";
import type { Claims } from "../memory/ports/claims.js";
import type { Erasures } from "../memory/ports/erasures.js";
import type { Log } from "../memory/ports/log.js";
import type { SystemRecords } from "../memory/ports/plan.js";
import type { Recent } from "../memory/ports/recent.js";

/** What every adapter opens: the ports, on one database. */
export interface Storage {
  readonly log: Log;
  readonly accounts: Accounts;
  readonly usage: Usage;
  readonly systemRecords: SystemRecords;
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
