import { type Account, type Accounts, KEYS_MAX, type KeyOf, SESSIONS_MAX } from "./account.js";
import { answersTo, type Key, type Session, withSessions } from "./key.js";

/** Maximum number of living sessions of an account, all its keys together. */
export const ACCOUNT_SESSIONS_MAX = 50;

type Changing = Pick<Accounts, "change">;

/** Gives an account another plan and limit. Used calls stay used, so `callsLeft` may become negative. */
export function changePlan(
  accounts: Changing,
  { accountId, plan, callsLimit }: { accountId: string; plan: string; callsLimit: number },
): Promise<boolean> {
  return accounts.change(accountId, (account) => {
    const callsLeft = account.callsLeft + (callsLimit - account.callsLimit);
    return { ...account, plan, callsLimit, callsLeft };
  });
}

/** Adds a key, unless the account has KEYS_MAX. */
export function addKey(accounts: Changing, { accountId, key }: { accountId: string; key: Key }) {
  return accounts.change(accountId, (account) => {
    return account.keys.length < KEYS_MAX ? { ...account, keys: [...account.keys, key] } : undefined;
  });
}

/**
 * Removes a key and its sessions, but the last one only with `force`. A key with a `client` counts as nobody's last one:
 * with it alone its owner is locked out.
 */
export function removeKey(accounts: Changing, { accountId, keyId, force }: KeyOf & { force: boolean }) {
  return accounts.change(accountId, (account) => {
    const keys = account.keys.filter(({ id }) => id !== keyId);
    const removed = account.keys.find(({ id }) => id === keyId);
    const isLast =
      !force && removed?.client === undefined && keys.every(({ client }) => client !== undefined);
    return keys.length === account.keys.length || isLast ? undefined : { ...account, keys };
  });
}

/** Lets the key that this one replaces end, and those that it replaces itself, unless they end earlier already. */
export async function endReplaced(accounts: Changing, { accountId, keyId, atMs }: KeyOf & { atMs: number }) {
  await accounts.change(accountId, (account) => {
    const ended = new Set<string>();
    const replacedBy = (id: string | undefined) => account.keys.find((key) => key.id === id)?.replaces;
    for (let id = replacedBy(keyId); id !== undefined; id = replacedBy(id)) ended.add(id);
    const keys = account.keys.map((key) => {
      if (ended.has(key.id)) return { ...key, expiresAtMs: Math.min(key.expiresAtMs, atMs) };
      const { replaces, graceMs, ...settled } = key;
      return key.id === keyId ? settled : key;
    });
    return ended.size === 0 ? undefined : { ...account, keys };
  });
}

/** Adds a session to a key; of more than SESSIONS_MAX of the key, or ACCOUNT_SESSIONS_MAX of the account, the oldest ends. */
export function addSession(
  accounts: Changing,
  { accountId, keyId, session }: KeyOf & { session: Session },
): Promise<boolean> {
  return accounts.change(accountId, (account) => {
    const out = crowdedOut(account);
    const keys = account.keys.map((key) => {
      const left = withSessions(key, ({ id }) => !out.includes(id));
      if (key.id !== keyId) return left;
      return { ...left, sessions: [...(left.sessions ?? []), session].slice(-SESSIONS_MAX) };
    });
    return keys.some(({ id }) => id === keyId) ? { ...account, keys } : undefined;
  });
}

/**
 * Lists the sessions that must end before another one is opened. Each is the oldest of the key that has most,
 * so that nobody with one key can sign out the browsers of all others.
 */
export function crowdedOut({ keys }: Pick<Account, "keys">): string[] {
  const groups = keys.map(({ sessions = [] }) => sessions.map(({ id }) => id));
  const out: string[] = [];
  let count = groups.flat().length;
  for (; count >= ACCOUNT_SESSIONS_MAX; count--) {
    const most = groups.reduce((a, b) => (b.length > a.length ? b : a));
    out.push(most.shift() as string);
  }
  return out;
}

/** The use of a key, or of a session, by its hash. */
export interface KeyUse {
  readonly accountId: string;
  readonly keyHash: string;
  readonly atMs: number;
}

/** Records when a key or a session was last used, unless it was used later or is removed. */
export async function touchKey(accounts: Changing, { accountId, keyHash, atMs }: KeyUse): Promise<void> {
  const used = <T extends Pick<Key | Session, "hash" | "lastUsedAtMs">>(each: T): T => {
    const lastUsedAtMs = Math.max(each.lastUsedAtMs ?? 0, atMs);
    return each.hash === keyHash ? { ...each, lastUsedAtMs } : each;
  };
  await accounts.change(accountId, (account) => {
    if (!account.keys.some((key) => answersTo(key, keyHash))) return undefined;
    const keys = account.keys.map(({ sessions, ...key }) =>
      used(sessions === undefined ? key : { ...key, sessions: sessions.map(used) }),
    );
    return { ...account, keys };
  });
}

/** Removes the session that is meant; true if there was one. */
export function removeSession(
  accounts: Changing,
  { accountId, isMeant }: { accountId: string; isMeant: (session: Session) => boolean },
): Promise<boolean> {
  return accounts.change(accountId, (account) => {
    if (!account.keys.some(({ sessions }) => sessions?.some(isMeant))) return undefined;
    return { ...account, keys: account.keys.map((key) => withSessions(key, (each) => !isMeant(each))) };
  });
}
