import type { Caller } from "../memory/ports/quota.js";
import type { Accounts } from "./account.js";
import { getAccount, unknownKey } from "./authenticate.js";
import { addSession, removeSession } from "./changes.js";
import { makeSession, type Session } from "./key.js";
import { isOfClient, ofClient } from "./keys.js";

/** Lifetime of a session whose cookie ends with the browser. */
const BRIEF_MS = 12 * 60 * 60 * 1000;
/** Lifetime of a session that is to stay. */
const STAYING_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Opens a session for the caller's key. When there are too many, the oldest ends.
 *
 * @throws MemoryError `unauthenticated` if the key was revoked, or if the caller is a session itself: it would
 * outlive itself in those that it opens. MemoryError `permission_denied` (KEY_OF_CLIENT) for the key of an
 * application.
 */
export async function openSession(
  accounts: Accounts,
  { caller, stay }: { caller: Caller; stay: boolean },
): Promise<{ secret: string; session: Session }> {
  const account = await getAccount(accounts, caller);
  const key = account.keys.find(({ hash }) => hash === caller.keyHash);
  if (key === undefined || caller.sessionHash !== undefined) throw unknownKey();
  if (isOfClient(account, caller)) throw ofClient("it cannot sign in to the portal");
  const lifetimeMs = stay ? STAYING_MS : BRIEF_MS;
  const made = makeSession({ expiresAtMs: Math.min(Date.now() + lifetimeMs, key.expiresAtMs) });
  const request = { accountId: account.id, keyId: key.id, session: made.session };
  if (!(await addSession(accounts, request))) throw unknownKey();
  return made;
}

/** Ends the caller's own session, if it still lives. */
export async function endSession(
  accounts: Accounts,
  { accountId, sessionHash }: Pick<Caller, "accountId" | "sessionHash">,
): Promise<void> {
  if (sessionHash === undefined) return;
  await removeSession(accounts, { accountId, isMeant: ({ hash }) => hash === sessionHash });
}
