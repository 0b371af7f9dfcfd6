import { setImmediate as nextIteration } from "node:timers/promises";

/** Interval of the work on accounts that have records, and the number of accounts of each run. */
export const VISIT_MS = 60_000;
const VISITED_MAX = 1_000;

interface RecordsOfAccounts {
  nextAccount(after: string): Promise<string | undefined>;
}

/** Makes work that visits some of the accounts that have records, by id, and the next ones when it runs again. */
export function visitingAccounts(
  records: RecordsOfAccounts,
  visit: (accountId: string) => Promise<void>,
): () => Promise<void> {
  let last = "";
  return async () => {
    for (let accounts = 0; accounts < VISITED_MAX; accounts++) {
      const accountId = await records.nextAccount(last);
      last = accountId ?? "";
      if (accountId === undefined) return;
      await visit(accountId);
      await nextIteration();
    }
  };
}
