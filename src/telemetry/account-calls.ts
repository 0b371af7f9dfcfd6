import { Counter, type Registry } from "prom-client";

/** The shared label of all accounts beyond the limit. */
const OTHER = "other";

/** Counts calls by account, if the operator asks for it. The first `accountsMax` accounts have labels. */
export class AccountCalls {
  readonly #named = new Set<string>();
  readonly #calls: Counter<"account" | "code">;

  constructor(
    registry: Registry,
    private readonly accountsMax: number,
  ) {
    this.#calls = new Counter({
      name: "recalld_account_calls_total",
      help: "Calls by account, as far as METRICS_ACCOUNTS_MAX has them named.",
      labelNames: ["account", "code"],
      registers: [registry],
    });
  }

  count(accountId: string | undefined, code: string): void {
    if (this.accountsMax === 0 || accountId === undefined) return;
    this.#calls.inc({ account: this.#labelOf(accountId), code });
  }

  #labelOf(accountId: string): string {
    if (this.#named.has(accountId)) return accountId;
    if (this.#named.size >= this.accountsMax) return OTHER;
    this.#named.add(accountId);
    return accountId;
  }
}
