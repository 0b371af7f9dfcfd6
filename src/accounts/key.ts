import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { typeid } from "typeid-js";

const PREFIX = "rcl_";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 32 random bytes and a CRC-32, each in as many base62 digits as its largest value needs. */
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}$`);

/** How much of a key is kept readable, for its owner to tell it by. */
const SHOWN_CHARS = 8;
/** When a key that has no end ends: the last second that a wire timestamp can say. */
export const NEVER_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** What a key may do. */
export type KeyAccess = "full" | "read_only";

/** A key, as it is kept: all but the secret. */
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
  readonly createdAtMs: number;
  /** To the minute; absent when never. */
  readonly lastUsedAtMs?: number;
  /** NEVER_MS when it has no end. */
  readonly expiresAtMs: number;
  /** The id of the key that ends `graceMs` after this one's first use. */
  readonly replaces?: string;
  readonly graceMs?: number;
}

/** A new key: the secret, which is shown once, and what is kept of it. */
export function makeKey(given: Partial<Key> & Pick<Key, "name">): { secret: string; key: Key } {
  const secret = newKey();
  const key: Key = {
    id: typeid("key").toString(),
    hash: hashKey(secret),
    prefix: secret.slice(0, SHOWN_CHARS),
    access: "full",
    createdAtMs: Date.now(),
    expiresAtMs: NEVER_MS,
    ...given,
  };
  return { secret, key };
}

/**
 * A new API key: `rcl_`, 43 digits of secret and 6 of checksum. The prefix lets secret scanners find
 * a leaked key, the checksum tells a mistyped one without a look-up.
 */
export function newKey(): string {
  const secret = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString("hex")}`), SECRET_DIGITS);
  return PREFIX + secret + checksum(secret);
}

/** Whether a key has the form of ours and its checksum is right; says nothing of whether it exists. */
export function isWellFormedKey(key: string): boolean {
  if (!FORM.test(key)) return false;
  const secret = key.slice(PREFIX.length, PREFIX.length + SECRET_DIGITS);
  return key.endsWith(checksum(secret));
}

/** SHA-256 of a key, in hex: all that is kept. 32 random bytes need neither salt nor pepper. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

function checksum(secret: string): string {
  return base62(BigInt(crc32(PREFIX + secret)), CHECKSUM_DIGITS);
}

function base62(value: bigint, digits: number): string {
  let text = "";
  for (let rest = value; text.length < digits; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}
