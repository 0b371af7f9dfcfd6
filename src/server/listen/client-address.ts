import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { compile } from "@fastify/proxy-addr";
import ipaddr from "ipaddr.js";

declare module "node:http" {
  interface IncomingMessage {
    /** Address of the client, noted when its request arrives. */
    clientAddress?: string;
  }
}

type Forwarded = Pick<IncomingMessage, "headers"> & { readonly socket: Pick<Socket, "remoteAddress"> };

/** Maximum number of proxies in a chain; earlier entries of the header are ignored. */
const HOPS_MAX = 32;

/**
 * Proxies whose word counts, by blocks of addresses (CIDR).
 *
 * Fastify's `trustProxy` is not used: given a number it trusts no proxy (CVE-2026-16732), given true all,
 * and what a proxy wrote is handed on as it is, with its port or a word in place of an address.
 */
export class TrustedProxies {
  readonly #isIn: (address: string, hop: number) => boolean;

  constructor(blocks: readonly string[]) {
    this.#isIn = compile([...blocks]);
  }

  /** True if a connection is one of a proxy, which stands for many clients. */
  areAt({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): boolean {
    return this.#has(plainAddress(remoteAddress));
  }

  /**
   * Returns whose request it is: the address of the connection, or, when that is a trusted proxy, the one
   * that the proxy wrote last in `X-Forwarded-For`, and so on. Whatever an untrusted hop wrote is hearsay.
   */
  addressOf({ socket, headers }: Forwarded): string {
    let address = plainAddress(socket.remoteAddress ?? "");
    const forwarded = headers["x-forwarded-for"];
    if (forwarded === undefined) return address;
    // Node joins several such headers with commas, in their order.
    for (const hop of String(forwarded).split(",").reverse().slice(0, HOPS_MAX)) {
      if (!this.#has(address)) break;
      const before = plainAddress(hop);
      // A proxy that says nothing readable speaks for itself.
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  }

  /** Name by which a connection counts: its network, or for each of a trusted proxy's a name of its own. */
  ownerOf({ remoteAddress = "", remotePort }: Socket): string {
    const address = plainAddress(remoteAddress);
    return this.#has(address) ? `${address} ${remotePort}` : networkOf(address);
  }

  #has(address: string): boolean {
    // The library reads 10.1 and ::10.0.0.1 as addresses of IPv4, which they are not.
    return isIP(address) !== 0 && !/^::\d+\./.test(address) && this.#isIn(address, 0);
  }
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
function plainAddress(written: string): string {
  // Most are bare addresses of IPv4.
  if (isIP(written) === 4) return written;
  const bare = written
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, "$1")
    .replace(/^([\d.]+):\d+$/, "$1")
    .replace(/%.*$/, "");
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, "");
}
