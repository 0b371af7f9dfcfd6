import type { Scope } from "./names.js";

/** The port to the recently used namespaces: a hint for the next start, so losing some is fine. */
export interface Recent {
  /** Records that a namespace was in use at this time. */
  touch(scope: Scope, atMs: number): Promise<void>;
  /** Lists the most recently used namespaces, newest first. */
  list(limit: number): Promise<Scope[]>;
  forget(scope: Scope): Promise<void>;
}
