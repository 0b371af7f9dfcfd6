import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openClients } from "../../src/server/oauth/clients.js";
import {
  DOCUMENT_BYTES_MAX,
  fetchDocument,
  guardedLookup,
  isPublic,
  mayHaveDocument,
} from "../../src/server/oauth/fetch-document.js";
import { certificates } from "../support/certificates.js";

const { file } = certificates();
const CLIENT = "https://app.example/client.json";
const DOCUMENT = { client_id: CLIENT, client_name: "App", redirect_uris: ["https://app.example/back"] };

/** No client registers here. */
const NO_SECRETS = { findOrInsert: () => Promise.reject(new Error("no secret is needed")) };

describe("an address", () => {
  it.each(["93.184.216.34", "2606:2800:220:1::1", "8.8.8.8"])("%s is public", (address) => {
    expect(isPublic(address)).toBe(true);
  });

  it.each([
    ...["127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254"],
    ...["0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "240.0.0.1"],
    ...["::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"],
    // They stand for addresses of IPv4.
    ...["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "2002:7f00:1::1"],
    ...["localhost", ""],
  ])("%s is not", (address) => {
    expect(isPublic(address)).toBe(false);
  });
});

describe("the address of a document", () => {
  it.each([CLIENT, "https://app.example/a/b", "https://xn--bcher-kva.example/c"])("may be %s", (url) => {
    expect(mayHaveDocument(url)).toBe(true);
  });

  it.each([
    ...[
      "http://app.example/c",
      "ftp://app.example/c",
      "app.example/c",
      "",
      "https://",
      "https://app.example",
    ],
    ...[
      "https://app.example/",
      "https://app.example:8443/c",
      "https://me@app.example/c",
      "https://localhost/c",
    ],
    ...[
      "https://app.example/c#x",
      "https://app.example/c#",
      "https://app.example/c?",
      "https://app.example/c?x=1",
    ],
    ...[
      "https://127.0.0.1/c",
      "https://[::1]/c",
      "https://2130706433/c",
      "https://0x7f.1/c",
      "https://app.example./c",
    ],
    ...[
      "https://APP.example/c",
      "https://app.example/../c",
      "https://app.example\\c",
      `https://a.example/${"x".repeat(600)}`,
    ],
  ])("may not be %s", (url) => {
    expect(mayHaveDocument(url)).toBe(false);
  });
});

describe("a name that is looked up for a connection", () => {
  const resolving = (...addresses: string[]) => {
    const found = async (isWanted: (address: string) => boolean) => {
      const some = addresses.filter(isWanted);
      if (some.length === 0) throw new Error("the name has no such address");
      return some;
    };
    return {
      resolve4: () => found((address) => !address.includes(":")),
      resolve6: () => found((address) => address.includes(":")),
    } as never;
  };
  const lookedUp = (lookup: ReturnType<typeof guardedLookup>, all: boolean) =>
    new Promise((resolve) => {
      lookup("app.example", { all }, (error, found) => resolve(error?.message ?? found));
    });

  it("is refused if one of its addresses is not public", async () => {
    const lookup = guardedLookup(isPublic, resolving("93.184.216.34", "10.0.0.1"));
    for (const all of [true, false])
      expect(await lookedUp(lookup, all)).toBe("the name has an address that is not public");
    const both = guardedLookup(isPublic, resolving("93.184.216.34", "fd00::1"));
    expect(await lookedUp(both, true)).toBe("the name has an address that is not public");
    const none = { resolve4: async () => [], resolve6: async () => [] } as never;
    expect(await lookedUp(guardedLookup(isPublic, none), true)).toMatch(/not public/);
    expect(await lookedUp(guardedLookup(isPublic, resolving()), true)).toBe("the name has no such address");
  });

  it("is connected to what was looked at", async () => {
    const lookup = guardedLookup(isPublic, resolving("93.184.216.34"));
    expect(await lookedUp(lookup, true)).toEqual([{ address: "93.184.216.34", family: 4 }]);
    expect(await lookedUp(lookup, false)).toBe("93.184.216.34");
    expect(await lookedUp(guardedLookup(isPublic, resolving("2606:4700::1111")), true)).toEqual([
      { address: "2606:4700::1111", family: 6 },
    ]);
  });
});

describe("a document", () => {
  let server: Server;
  let asked: string[];
  beforeAll(async () => {
    asked = [];
    const options = { key: readFileSync(file("a.key")), cert: readFileSync(file("a.crt")) };
    server = createServer(options, ({ url = "" }, answer) => {
      asked.push(url);
      const json = { "content-type": "application/json" };
      if (url === "/good") answer.writeHead(200, json).end(JSON.stringify(DOCUMENT));
      else if (url === "/large")
        answer.writeHead(200, json).end(JSON.stringify("x".repeat(DOCUMENT_BYTES_MAX)));
      else if (url === "/moved") answer.writeHead(302, { ...json, location: "/good" }).end("{}");
      else if (url === "/page") answer.writeHead(200, { "content-type": "text/html" }).end("{}");
      else if (url === "/broken") answer.writeHead(200, json).end("{");
      else if (url === "/informed" || url === "/blank") {
        const text = url === "/blank" ? "\r\n" : "HTTP/1.1 102 Processing\r\n\r\n";
        answer.socket?.write(text.repeat(100_000 / text.length));
        answer.writeHead(200, json).end(JSON.stringify(DOCUMENT));
      } else if (url === "/slow") answer.writeHead(200, json).write("{");
      else answer.writeHead(404, json).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Fetches from the server here, under the one name that its certificate has, which has no dot. */
  const fetched = (path: string, isAllowed: (address: string) => boolean = () => true) =>
    fetchDocument(`https://app.example${path}`, {
      lookup: guardedLookup(isAllowed, {
        resolve4: async () => ["127.0.0.1"],
        resolve6: async () => [],
      } as never),
      ca: readFileSync(file("a.crt")),
      port: (server.address() as AddressInfo).port,
      servername: "localhost",
    });

  it("is fetched by HTTPS", async () => {
    expect(await fetched("/good")).toEqual(DOCUMENT);
  });

  it("is not fetched from an address that is not public, and nothing is asked there", async () => {
    const before = asked.length;
    await expect(fetched("/good", isPublic)).rejects.toThrow("no document of a client can be fetched there");
    expect(asked.length).toBe(before);
  });

  it.each(["/large", "/moved", "/page", "/broken", "/none", "/informed", "/blank"])(
    "is refused at %s, without a word of why",
    async (path) => {
      await expect(fetched(path)).rejects.toThrow("client_id: no document of a client can be fetched there");
      expect(asked.at(-1)).toBe(path);
    },
  );

  it("is refused when it is too slow", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
      expect(ms).toBe(5_000);
      const short = new AbortController();
      setTimeout(() => short.abort(), 200);
      return short.signal;
    });
    await expect(fetched("/slow")).rejects.toThrow("no document");
    timeout.mockRestore();
  });

  it("is remembered for a while, and describes none but its own client", async () => {
    const fetch = vi.fn(async () => DOCUMENT as object);
    const { find } = openClients(NO_SECRETS, fetch);
    const client = { id: CLIENT, name: "App", redirectUris: DOCUMENT.redirect_uris, host: "app.example" };
    expect([await find(CLIENT, "acc_1"), await find(CLIENT, "acc_1")]).toEqual([client, client]);
    expect(fetch).toHaveBeenCalledTimes(1);
    await expect(find("https://evil.example/c", "acc_1")).rejects.toThrow("a document about another client");
    fetch.mockResolvedValue({ ...DOCUMENT, token_endpoint_auth_method: "client_secret_basic" });
    await expect(openClients(NO_SECRETS, fetch).find(CLIENT, "acc_1")).rejects.toThrow(
      "a client that has a secret",
    );
    fetch.mockResolvedValue({ ...DOCUMENT, redirect_uris: ["javascript:alert(1)"] });
    await expect(openClients(NO_SECRETS, fetch).find(CLIENT, "acc_1")).rejects.toThrow(
      "redirect_uris holds an address that",
    );
  });

  it("is fetched for few at a time", async () => {
    const ends: (() => void)[] = [];
    const fetch = () => new Promise((resolve) => ends.push(() => resolve(DOCUMENT)));
    const { find } = openClients(NO_SECRETS, fetch);
    const finding = Array.from({ length: 6 }, () => find(CLIENT, "acc_1").catch(({ message }) => message));
    expect(await finding[5]).toContain("as many documents of clients to fetch as it may");
    // Another account finds some left.
    finding.push(find(CLIENT, "acc_2"));
    for (const end of ends) end();
    expect(await finding[0]).toMatchObject({ name: "App" });
    expect(await finding[6]).toMatchObject({ name: "App" });
  });
});
