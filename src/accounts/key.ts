import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { typeid } from "typeid-js";

/** Prefixes of secrets, which differ so that none is ever taken for another. An application exchanges a code for a key. */
const PREFIXES = { key: "rcl_", session: "rcs_", code: "rco_" } as const;
type SecretKind = keyof typeof PREFIXES;

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Lengths of a secret's parts: 32 random bytes and a CRC-32, in the base62 digits of their largest values. */
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const FORM = new RegExp(`^[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}$`);

/** Characters of a key that are kept readable, so that its owner recognises it. */
const PREFIX_CHARS = 8;
/** The end of a key that never ends: the last second that a wire timestamp can hold. */
export const NEVER_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

export type KeyAccess = "full" | "read_only";

/** A key as the database holds it: everything but the secret. */
export interface Key {
  /** `key_…`; not a secret. */
  readonly id: string;
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  readonly name: string;
  /** The key's first 8 characters. */
  readonly prefix: string;
  readonly access: KeyAccess;
  /** The only namespace it may touch. */
  readonly namespace?: string;
  /** Application that got the key by OAuth, as its owner knows it; absent for a key that a person has made. */
  readonly client?: string;
  readonly createdAtMs: number;
  /** Time of its last use, to the minute; absent if it was never used. */
  readonly lastUsedAtMs?: number;
  /** Time when the key ends; NEVER_MS if it never ends. */
  readonly expiresAtMs: number;
  /** The id of the key that ends `graceMs` after this one's first use. */
  readonly replaces?: string;
  readonly graceMs?: number;
  /** The living sessions that were opened with it, oldest first; absent if there are none. */
  readonly sessions?: readonly Session[];
}

/**
 * A browser's session as the database holds it: everything but the secret. It is a part of its key, so it may
 * do what the key may, and ends with it.
 */
export interface Session {
  /** `ses_…`; not a secret. */
  readonly id: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly createdAtMs: number;
  /** Time of its last use, to the minute; absent if it was never used. */
  readonly lastUsedAtMs?: number;
  readonly expiresAtMs: number;
}

/** A new key: the secret, which is shown once, and the part that is kept. */
export function makeKey(given: Partial<Key> & Pick<Key, "name">): { secret: string; key: Key } {
  const secret = newSecret("key");
  const key: Key = {
    id: typeid("key").toString(),
    hash: hashKey(secret),
    prefix: secret.slice(0, PREFIX_CHARS),
    access: "full",
    createdAtMs: Date.now(),
    expiresAtMs: NEVER_MS,
    ...given,
  };
  return { secret, key };
}

/** A new session, like a new key. */
export function makeSession({ expiresAtMs }: Pick<Session, "expiresAtMs">): {
  secret: string;
  session: Session;
} {
  const secret = newSecret("session");
  const id = typeid("ses").toString();
  return { secret, session: { id, hash: hashKey(secret), createdAtMs: Date.now(), expiresAtMs } };
}

/** Leaves out the keys and the sessions whose time is over. */
export function livingKeys(keys: readonly Key[], nowMs = Date.now()): Key[] {
  const living = keys.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
  return living.map((key) => withSessions(key, (session) => session.expiresAtMs > nowMs));
}

export function withSessions(key: Key, isWanted: (session: Session) => boolean): Key {
  const { sessions, ...bare } = key;
  if (sessions === undefined) return key;
  const wanted = sessions.filter(isWanted);
  return wanted.length === 0 ? bare : { ...bare, sessions: wanted };
}

/** True if a hash is that of a key or of one of its sessions. */
export function answersTo({ hash, sessions = [] }: Key, wanted: string): boolean {
  return hash === wanted || sessions.some((session) => session.hash === wanted);
}

/** Hashes a key, or a session's secret, by SHA-256, in hex. Only this is kept; 32 random bytes need neither salt nor pepper. */
export function hashKey(key: string): string {
  return hash("sha256", key, "hex");
}

/**
 * Makes a secret: its prefix, 43 random digits and 6 of checksum. The prefix lets secret scanners find a
 * leaked key; the checksum detects a mistyped one without a look-up.
 */
export function newSecret(kind: SecretKind): string {
  const prefix = PREFIXES[kind];
  const digits = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString("hex")}`), SECRET_DIGITS);
  return prefix + digits + checksum(prefix + digits);
}

/** True if a secret has our form and a correct checksum; it need not exist. */
export function isWellFormed(secret: string, kind: SecretKind): boolean {
  const prefix = PREFIXES[kind];
  if (!secret.startsWith(prefix) || !FORM.test(secret.slice(prefix.length))) return false;
  return secret.endsWith(checksum(secret.slice(0, prefix.length + SECRET_DIGITS)));
}

function checksum(summed: string): string {
  return base62(BigInt(crc32(summed)), CHECKSUM_DIGITS);
}

function base62(value: bigint, digits: number): string {
  let text = "";
  for (let rest = value; text.length < digits; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}
