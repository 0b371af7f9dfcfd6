import type { Scope } from "./log.js";

/** The port to which namespaces were used last: a hint for the next start, so losing some is fine. */
export interface Recent {
  /** Remembers that a namespace was in use at this time. */
  touch(scope: Scope, atMs: number): Promise<void>;
  /** The most recently used ones, newest first. */
  list(limit: number): Promise<Scope[]>;
  forget(scope: Scope): Promise<void>;
}
