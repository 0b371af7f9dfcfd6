import { MemoryError } from "../errors.js";
import type { Rate } from "./bucket.js";

/** What an account may use. */
export interface Plan {
  readonly name: string;
  /** Successful stores and recalls in the account's lifetime; UNLIMITED_CALLS is no limit. */
  readonly calls: number;
  /** Of each of its keys, in each process; undefined is no limit. */
  readonly rate: Rate | undefined;
  /** Calls that each of its keys may have running, in each process; undefined is no limit. */
  readonly concurrency: number | undefined;
}

/** As a count of calls: more than anybody could make. Counted down like any other, so that nothing else differs. */
export const UNLIMITED_CALLS = 2 ** 50;

/** The plan of accounts that sign up. */
export const FREE = "free";

/** What a key of the built-in plan may do: far more than a person or an agent does, and not all that a process can. */
const FREE_LIMITS = { rate: { perSecond: 50, burst: 100 }, concurrency: 32 };

/** The plans of a server without a file of plans. */
export function builtInPlans(freeCalls: number): Plans {
  return new Plans([{ name: FREE, calls: freeCalls, ...FREE_LIMITS }]);
}

/** The plans there are, by name. */
export class Plans {
  readonly #plans: ReadonlyMap<string, Plan>;

  constructor(plans: readonly Plan[]) {
    this.#plans = new Map(plans.map((plan) => [plan.name, plan]));
  }

  get names(): readonly string[] {
    return [...this.#plans.keys()];
  }

  /** @throws MemoryError `failed_precondition` (PLAN_UNKNOWN): the operator took it out of the file. */
  get(name: string): Plan {
    const plan = this.#plans.get(name);
    if (plan !== undefined) return plan;
    throw new MemoryError(
      "failed_precondition",
      `there is no plan ${JSON.stringify(name)} here; there are ${this.names.join(", ")}`,
      { reason: "PLAN_UNKNOWN" },
    );
  }
}
