import { describe, expect, it } from "vitest";
import { networkOf, TrustedProxies } from "../../src/server/listen/client-address.js";

const PROXIES = ["10.0.0.0/8", "fd00::/8"];

function addressOf(remoteAddress: string, forwarded?: string, proxies: readonly string[] = PROXIES): string {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  return new TrustedProxies(proxies).addressOf({ socket: { remoteAddress }, headers });
}

describe("the client's address", () => {
  it("is the connection's own without trusted proxies, whatever is claimed", () => {
    expect(addressOf("203.0.113.9", "198.51.100.1", [])).toBe("203.0.113.9");
    expect(addressOf("127.0.0.1", "198.51.100.1", [])).toBe("127.0.0.1");
  });

  it.each([
    ["a stranger's claim", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["a proxy's word", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["a proxy behind a proxy", "10.0.0.1", "198.51.100.1, 10.2.2.2", "198.51.100.1"],
    ["a claim passed on by a proxy", "10.0.0.1", "6.6.6.6, 198.51.100.1", "198.51.100.1"],
    ["a claim to be a proxy", "10.0.0.1", "6.6.6.6, 10.9.9.9, 198.51.100.1", "198.51.100.1"],
    ["a proxy that says nothing", "10.0.0.1", undefined, "10.0.0.1"],
    ["a proxy that says nonsense", "10.0.0.1", "6.6.6.6, unknown", "10.0.0.1"],
    ["an empty header", "10.0.0.1", "", "10.0.0.1"],
    ["proxies all the way", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["IPv4 on an IPv6 socket", "::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["a port beside the address", "10.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
    ["IPv6", "fd00::1", "2001:db8::5", "2001:db8::5"],
    ["IPv6 in brackets, with a port", "fd00::1", "[2001:db8::5]:443", "2001:db8::5"],
    ["a zone", "fd00::1%eth0", "2001:db8::5", "2001:db8::5"],
    ["IPv4 in an IPv6 address, in hexadecimal digits", "::ffff:a00:1", "198.51.100.1", "198.51.100.1"],
    ["an IPv6 address that ends like a proxy's", "::10.0.0.1", "198.51.100.1", "::10.0.0.1"],
    ["a short form of a proxy's address", "10.0.0.1", "6.6.6.6, 10.1", "10.0.0.1"],
    ["a connection that is gone", "", "198.51.100.1", ""],
  ])("%s", (_, remote, forwarded, expected) => {
    expect(addressOf(remote, forwarded)).toBe(expected);
  });

  it("is found in a header of any length", () => {
    expect(addressOf("10.0.0.1", "10.0.0.2,".repeat(50_000))).toMatch(/^10\.0\.0\.[12]$/);
  });
});

describe("a client's network", () => {
  it.each([
    ["198.51.100.1", "198.51.100.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:DB8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
    ["", ""],
  ])("of %j is %j", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
