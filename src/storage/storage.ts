import type { Accounts } from "../accounts/account.js";
import type { Calls } from "../accounts/calls/calls.js";
import type { GrantSecrets, Grants } from "../accounts/oauth/grants.js";
import type { Usage } from "../accounts/usage.js";
import type { DomainPorts } from "../memory/ports/ports.js";

/** The ports on one database, as every adapter opens them. */
export interface Storage extends Omit<DomainPorts, "indexes" | "quota" | "clock"> {
  readonly accounts: Accounts;
  readonly grants: Grants;
  readonly grantSecrets: GrantSecrets;
  readonly usage: Usage;
  readonly calls: Calls;
  /** Whether no other process can use this database at the same time. */
  readonly exclusive: boolean;
  /** Checks that the database answers. @throws MemoryError `unavailable` when it does not. */
  check(): Promise<void>;
  /** Writes a copy of the whole database into a new file; only where the database can copy itself. */
  backUp?(path: string): Promise<void>;
  /** Closes the database; what was answered is kept. */
  close(): Promise<void>;
}
