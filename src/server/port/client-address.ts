import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { createContextKey } from "@connectrpc/connect";

/** From where a call came; set for every RPC. */
export const clientAddressKey = createContextKey("", { description: "client address" });

/** No chain of proxies is longer; what stands before is not looked at. */
const HOPS_MAX = 32;

/**
 * Tells whose request it is: the address of the connection, or, when that is a trusted proxy, the one
 * that the proxy wrote last in `X-Forwarded-For`, and so on. Whatever an untrusted hop wrote is hearsay.
 *
 * Not Fastify's `trustProxy`: given a number it trusts nobody (CVE-2026-16732), and given true everybody.
 */
export function clientAddresses(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = blocksOf(trustedProxies);
  return ({ socket, headers }) => {
    // Node joins several such headers with commas, in their order.
    const hops = String(headers["x-forwarded-for"] ?? "").split(",");
    let address = plainAddress(socket.remoteAddress ?? "");
    for (const hop of hops.reverse().slice(0, HOPS_MAX)) {
      if (!isTrusted(trusted, address)) break;
      const before = plainAddress(hop);
      // A proxy that says nothing readable speaks for itself.
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  };
}

/**
 * Whom an address belongs to, for limits: of IPv6 the first 64 bits, because a single customer has at
 * least as many addresses as those leave open.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Without the port and the zone that may stand beside it, and IPv4 as itself. */
export function plainAddress(written: string): string {
  const bare = written
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^([\d.]+):\d+$/, "$1")
    .replace(/%.*$/, "");
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, "");
}

/** Whether an address, as `plainAddress` writes it, is in one of the blocks (CIDR). */
export function inBlocks(blocks: readonly string[]): (address: string) => boolean {
  const list = blocksOf(blocks);
  return (address) => isTrusted(list, address);
}

function blocksOf(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = "", length] = block.split("/");
    list.addSubnet(address, Number(length), familyOf(address));
  }
  return list;
}

function isTrusted(trusted: BlockList, address: string): boolean {
  return isIP(address) !== 0 && trusted.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
