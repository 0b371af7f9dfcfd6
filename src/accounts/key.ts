import { createHash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "rcl_";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 32 random bytes and a CRC-32, each in as many base62 digits as its largest value needs. */
const SECRET_BYTES = 32;
const SECRET_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_DIGITS + CHECKSUM_DIGITS}}$`);

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
