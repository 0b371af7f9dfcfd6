import type { Accounts } from "../accounts/account.js";
import type { Calls } from "../accounts/calls/calls.js";
import type { Grants } from "../accounts/oauth/grants.js";
import type { Usage } from "../accounts/usage.js";
import type { Claims } from "../memory/ports/claims.js";
import type { Erasures } from "../memory/ports/erasures.js";
import type { Log } from "../memory/ports/log.js";
import type { Names } from "../memory/ports/names.js";
import type { Recent } from "../memory/ports/recent.js";
import type { SecondaryIndexes } from "../memory/ports/secondary-indexes.js";
import type { SystemRecords } from "../memory/ports/system-records.js";

/** The ports on one database, as every adapter opens them. */
export interface Storage {
  readonly log: Log;
  readonly names: Names;
  readonly secondaryIndexes: SecondaryIndexes;
  readonly accounts: Accounts;
  readonly grants: Grants;
  readonly usage: Usage;
  readonly calls: Calls;
  readonly systemRecords: SystemRecords;
  readonly claims: Claims;
  readonly erasures: Erasures;
  readonly recent: Recent;
  /** Whether no other process can use this database at the same time. */
  readonly exclusive: boolean;
  /** Checks that the database answers. @throws MemoryError `unavailable` when it does not. */
  check(): Promise<void>;
  /** Writes a copy of the whole database into a new file; only where the database can copy itself. */
  backUp?(path: string): Promise<void>;
  /** Closes the database; what was answered is kept. */
  close(): Promise<void>;
}
