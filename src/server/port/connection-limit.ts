import type { Socket } from "node:net";
import { networkOf, plainAddress } from "./client-address.js";

/**
 * Counts open connections by client address (of IPv6, by /64) and refuses those beyond the maximum of one.
 * The open connections bound its memory.
 */
export class ConnectionLimit {
  readonly #open = new Map<string, number>();

  constructor(
    private readonly perAddressMax: number,
    /** Tells addresses that stand for many clients and have no limit. */
    private readonly isExempt: (address: string) => boolean = () => false,
  ) {}

  /** Tells whether the connection may stay, and then counts it until it closes. */
  admit(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress ?? "");
    if (this.isExempt(address)) return true;
    const network = networkOf(address);
    const open = this.#open.get(network) ?? 0;
    if (open >= this.perAddressMax) return false;
    this.#open.set(network, open + 1);
    socket.once("close", () => this.#release(network));
    return true;
  }

  #release(network: string): void {
    const left = (this.#open.get(network) ?? 0) - 1;
    if (left > 0) this.#open.set(network, left);
    else this.#open.delete(network);
  }
}
