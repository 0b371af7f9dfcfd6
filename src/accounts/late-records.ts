import { setImmediate as nextIteration } from "node:timers/promises";

/** Time between two looks at accounts that have records, and the number of accounts at each. */
export const LOOK_MS = 60_000;
const LOOKED_AT_MAX = 1_000;

interface RecordsOfAccounts {
  nextAccount(after: string): Promise<string | undefined>;
}

/** Makes work that looks at some of the accounts that have records, by id, and at the next ones when it runs again. */
export function lookingAtAccounts(
  records: RecordsOfAccounts,
  look: (accountId: string) => Promise<void>,
): () => Promise<void> {
  let last = "";
  return async () => {
    for (let accounts = 0; accounts < LOOKED_AT_MAX; accounts++) {
      const accountId = await records.nextAccount(last);
      last = accountId ?? "";
      if (accountId === undefined) return;
      await look(accountId);
      await nextIteration();
    }
  };
}
