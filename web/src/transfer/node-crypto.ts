/** What the readers of imports use of Node's `crypto`, for browsers: one file gets the same ids in both. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

interface Hashing {
  update(text: string): Hashing;
  digest(encoding: "hex"): string;
}

export function createHash(_algorithm: "sha256"): Hashing {
  const hash = sha256.create();
  const hashing: Hashing = {
    update: (text) => {
      hash.update(new TextEncoder().encode(text));
      return hashing;
    },
    digest: () => bytesToHex(hash.digest()),
  };
  return hashing;
}

/** A random name. Browsers have `crypto.randomUUID` only over HTTPS. */
export function randomUUID(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
}
