/** Writes to the given folder and reports each write once it is answered, until it is killed. */
import { setTimeout as sleep } from "node:timers/promises";
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

/** Charges calls that store nothing, as recalls do. */
async function charge(): Promise<void> {
  const payer = await newAccount();
  for (let charged = 1; ; charged++) {
    await accounts.charge(payer);
    say({ keyHash: payer.keyHash, charged, storesNothing: true });
    await sleep(1);
  }
}

/** Charges calls that store something. */
async function chargeAndAppend(): Promise<void> {
  const [payer, logId] = [await newAccount(), anLogId()];
  for (let charged = 1; ; charged++) {
    await accounts.charge(payer);
    await log.append({ logId, from: charged, entries: [aMemory()] });
    say({ keyHash: payer.keyHash, charged });
  }
}

async function newAccount() {
  const account = anAccount({ callsLimit: 1_000_000, callsLeft: 1_000_000 });
  await accounts.create(account);
  return { accountId: account.id, keyHash: account.keys[0]?.hash as string };
}

/** Reports in one write to the pipe, so that a line arrives whole or not at all. */
function say(what: object): void {
  process.stdout.write(`${JSON.stringify({ ...what, atMs: Date.now() })}\n`);
}

await Promise.all([append(), append(), charge(), chargeAndAppend()]);
