import { leave } from "../log/leave.js";
import { isEnd, type Named, type Scope } from "../ports/log.js";
import { drop } from "./drop.js";
import type { ErasurePorts } from "./erase.js";

/** Names examined at a time. */
const NAMES_MAX = 100;

export interface LeftoverPorts extends ErasurePorts {
  /** Tells whether an account was closed. An account that is merely missing leads to no erasure. */
  isClosed(accountId: string): Promise<boolean>;
}

/**
 * Examines every name in turn, some at a time, for leftovers of processes that died or slept: names of logs
 * that have ended, and names of accounts that were closed during a store.
 */
export class Leftovers {
  #after: Scope | undefined;

  constructor(private readonly ports: LeftoverPorts) {}

  /** Examines the next names; answers how many leftovers it removed. */
  async next(): Promise<number> {
    const named = await this.ports.log.names({ after: this.#after, limit: NAMES_MAX });
    const closed = await this.#closedAmong(named);
    let cleared = 0;
    for (const each of named) if (await this.#clear(each, closed)) cleared++;
    this.#after = named.length < NAMES_MAX ? undefined : named.at(-1)?.scope;
    return cleared;
  }

  async #closedAmong(named: readonly Named[]): Promise<Set<string>> {
    const closed = new Set<string>();
    for (const accountId of new Set(named.map(({ scope }) => scope.accountId))) {
      if (await this.ports.isClosed(accountId)) closed.add(accountId);
    }
    return closed;
  }

  async #clear({ scope, logId }: Named, closed: ReadonlySet<string>): Promise<boolean> {
    const entry = (await this.ports.log.last(logId))?.entry;
    if (entry !== undefined && isEnd(entry)) {
      await leave(this.ports, { scope, logId, end: entry });
      return true;
    }
    if (!closed.has(scope.accountId)) return false;
    await drop(this.ports, scope, { force: true });
    return true;
  }
}
