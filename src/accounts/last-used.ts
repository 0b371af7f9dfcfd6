import { LRUCache } from "lru-cache";
import { type BackgroundOptions, inBackground } from "../concurrency/every.js";
import { mapConcurrently } from "../concurrency/map-concurrently.js";
import type { Caller } from "../memory/ports/quota.js";
import type { Accounts } from "./account.js";
import { proofOf } from "./authenticate.js";
import { type KeyUse, touchKey } from "./changes.js";

/** Keys whose last use is remembered; the least recently used are forgotten first. */
const KEYS_NOTED_MAX = 10_000;
/** Precision of the time: a key in constant use costs one write a minute. */
const PRECISION_MS = 60_000;
const WRITES_AT_ONCE = 16;

/**
 * Keeps when keys and sessions were last used, to the minute, in writes that no call waits for. A process that
 * dies loses what it has not written yet: the time is a hint for the owner, and decides nothing.
 */
export function openLastUsed(accounts: Pick<Accounts, "change">, options: BackgroundOptions) {
  const noted = new LRUCache<string, number>({ max: KEYS_NOTED_MAX });
  let waiting = new Map<string, KeyUse>();
  const background = inBackground(async () => {
    const uses = [...waiting.values()];
    waiting = new Map();
    await mapConcurrently(uses, WRITES_AT_ONCE, (use) => touchKey(accounts, use));
  }, options);
  return {
    note: (caller: Pick<Caller, "accountId" | "keyHash" | "sessionHash">): void => {
      const [accountId, keyHash] = [caller.accountId, proofOf(caller)];
      // The minute's first use, not its beginning: that may be before the key was made.
      const atMs = Date.now();
      const minute = Math.floor(atMs / PRECISION_MS);
      if (noted.get(keyHash) === minute) return;
      noted.set(keyHash, minute);
      if (waiting.size < KEYS_NOTED_MAX) waiting.set(keyHash, { accountId, keyHash, atMs });
    },
    close: () => background.close(),
  };
}
