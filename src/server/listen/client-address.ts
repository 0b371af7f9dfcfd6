import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { compile } from "@fastify/proxy-addr";
import ipaddr from "ipaddr.js";

/** Finds the address that a request comes from. */
export type AddressOf = (request: Pick<IncomingMessage, "socket" | "headers">) => string;

/** Addresses that requests came from. */
const addresses = new WeakMap<object, string>();

/** Returns the address that `noteAddress` has noted of a request. */
export function addressOf(request: object): string {
  return addresses.get(request) ?? "";
}

export function noteAddress(request: object, address: string): void {
  addresses.set(request, address);
}

/** Maximum number of proxies in a chain; earlier entries of the header are ignored. */
const HOPS_MAX = 32;

/**
 * Returns whose request it is: the address of the connection, or, when that is a trusted proxy, the one
 * that the proxy wrote last in `X-Forwarded-For`, and so on. Whatever an untrusted hop wrote is hearsay.
 *
 * Fastify's `trustProxy` is not used: given a number it trusts no proxy (CVE-2026-16732), given true all,
 * and what a proxy wrote is handed on as it is, with its port or a word in place of an address.
 */
export function clientAddresses(trustedProxies: readonly string[]): AddressOf {
  const isTrusted = inBlocks(trustedProxies);
  return ({ socket, headers }) => {
    // Node joins several such headers with commas, in their order.
    const hops = String(headers["x-forwarded-for"] ?? "").split(",");
    let address = plainAddress(socket.remoteAddress ?? "");
    for (const hop of hops.reverse().slice(0, HOPS_MAX)) {
      if (!isTrusted(address)) break;
      const before = plainAddress(hop);
      // A proxy that says nothing readable speaks for itself.
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  };
}

/**
 * Network that an address belongs to, for limits: an IPv4 address itself, and the first 64 bits of an IPv6
 * address, because a single customer has at least as many addresses as those leave open.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`;
}

/** Removes the port and the zone that may stand beside an address, and writes IPv4 as itself. */
export function plainAddress(written: string): string {
  const bare = written
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^([\d.]+):\d+$/, "$1")
    .replace(/%.*$/, "");
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, "");
}

/** True if an address, as `plainAddress` writes it, is in one of the blocks (CIDR). */
export function inBlocks(blocks: readonly string[]): (address: string) => boolean {
  const isIn = compile([...blocks]);
  // The library reads 10.1 and ::10.0.0.1 as addresses of IPv4, which they are not.
  return (address) => isIP(address) !== 0 && !/^::\d+\./.test(address) && isIn(address, 0);
}
