import type { Clock } from "../../concurrency/clock.js";
import type { Claims } from "./claims.js";
import type { Erasures } from "./erasures.js";
import type { Indexes } from "./index.js";
import type { Log } from "./log.js";
import type { SystemRecords } from "./model-version.js";
import type { Names } from "./names.js";
import type { Quota } from "./quota.js";
import type { SecondaryIndexes } from "./secondary-indexes.js";

/** The ports of the domain, and the clock; each part of it takes those that it uses. */
export interface DomainPorts {
  readonly log: Log;
  readonly names: Names;
  readonly secondaryIndexes: SecondaryIndexes;
  readonly erasures: Erasures;
  readonly claims: Claims;
  readonly systemRecords: SystemRecords;
  readonly indexes: Indexes;
  readonly quota: Quota;
  readonly clock: Clock;
}

/** Wraps a port and replaces some of its methods. */
export function withChanges<T extends object>(port: T, changes: Partial<T>): T {
  return new Proxy(port, {
    get: (_, name) => {
      const method = changes[name as keyof T] ?? port[name as keyof T];
      return typeof method === "function" ? method.bind(port) : method;
    },
  });
}
