/** Writes to the given folder and reports each write once it is answered, until it is killed. */
import { openLocal } from "../../../src/storage/local/open.js";
import { aMemory, anAccount, anLogId } from "../samples.js";

const { log, accounts } = await openLocal({ dataDir: process.argv[2] as string });

async function append(): Promise<void> {
  const logId = anLogId();
  for (let from = 1; ; from += 2) {
    const entries = [aMemory(), aMemory()] as const;
    await log.append({ logId, from, entries });
    for (const [i, { id }] of entries.entries()) say({ logId, sequence: from + i, id });
  }
}

async function charge(): Promise<void> {
  const account = anAccount({ callsLimit: 1_000_000, callsLeft: 1_000_000 });
  const keyHash = account.keys[0]?.hash as string;
  await accounts.create(account);
  for (let charged = 1; ; charged++) {
    await accounts.charge({ accountId: account.id, keyHash });
    say({ keyHash, charged });
  }
}

/** Reports in one write to the pipe, so that a line arrives whole or not at all. */
function say(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}

await Promise.all([append(), append(), charge()]);
