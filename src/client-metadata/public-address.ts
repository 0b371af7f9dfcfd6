import type { LookupAddress, LookupOptions } from "node:dns";
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** Error for a name that leads into a network that is not the internet. */
export class NotPublicAddressError extends Error {
  override readonly name = "NotPublicAddressError";
}

/**
 * True if an address is one of the public internet: none of this machine, its network, or a cloud's own
 * services, nor an IPv6 address that stands for such an IPv4 one.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === "unicast";
}

type Answer = Parameters<LookupFunction>[2];

/**
 * Resolves a name for a connection, and refuses it unless all its addresses are allowed. The connection is made to
 * what was looked at here, so a name that changes its address in between gains nothing.
 */
export function guardedLookup(
  isAllowed: (address: string) => boolean = isPublic,
  resolve: typeof lookup = lookup,
): LookupFunction {
  return (hostname: string, options: LookupOptions, answer: Answer) => {
    resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return answer(error, "");
      if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
        return answer(new NotPublicAddressError("the name has an address that is not public"), "");
      }
      if (options.all === true) return answer(null, addresses);
      const [first] = addresses as [LookupAddress];
      answer(null, first.address, first.family);
    });
  };
}
