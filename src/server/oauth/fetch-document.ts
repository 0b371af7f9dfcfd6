import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { invalid, MemoryError } from "../../errors.js";

/**
 * True if an address is one of the public internet: none of this machine, its network, or a cloud's own
 * services, nor an IPv6 address that stands for such an IPv4 one.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === "unicast";
}

/** Time for the first answer of a name server, in milliseconds, and the number of questions: as long as a fetch takes. */
const LOOKUP = { timeout: 1_500, tries: 2 };

type Resolving = Pick<Resolver, "resolve4" | "resolve6">;

/** Asks for a name's addresses, of which it may have one kind alone. @throws the reason why it has none. */
async function addressesOf(hostname: string, resolver: Resolving): Promise<readonly LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addressesIn = (answer: PromiseSettledResult<string[]>, family: number) =>
    answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
  const found = [...addressesIn(v4, 4), ...addressesIn(v6, 6)];
  if (found.length === 0 && v4.status === "rejected") throw v4.reason;
  return found;
}

/**
 * Resolves a name for a connection, and refuses it unless all its addresses are allowed. The connection is made to
 * what was looked at here, so a name that changes its address in between gains nothing.
 *
 * Name servers are asked directly. `dns.lookup` has two threads for all of a process: names whose servers do not
 * answer would keep it from finding its database or its embedding server.
 */
export function guardedLookup(
  isAllowed: (address: string) => boolean = isPublic,
  resolver: Resolving = new Resolver(LOOKUP),
): LookupFunction {
  return (hostname, { all }, answer) => {
    const answerAll = (addresses: readonly LookupAddress[]) => {
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address)))
        answer(new Error("the name has an address that is not public"), "");
      else if (all === true) answer(null, [...addresses]);
      else answer(null, first.address, first.family);
    };
    addressesOf(hostname, resolver).then(answerAll, (error) => answer(error, ""));
  };
}

export const DOCUMENT_BYTES_MAX = 5_120;
/**
 * Bytes that an answer may have, of whose headers Node takes 16 KiB. Informational answers, blank lines before an answer
 * and zeros of a chunk's length have no bound in Node, and no reader of the body hears of them.
 */
const ANSWER_BYTES_MAX = 65_536;
const TIMEOUT_MS = 5_000;
const URL_CHARS_MAX = 512;

/** Way in which a document is fetched; tests give another one. */
type Connecting = Pick<RequestOptions, "lookup" | "ca" | "port" | "servername">;

/**
 * True if a document may be fetched from an address: a plain one of HTTPS, as browsers write it, with a path, at the port
 * of HTTPS and at a name. An address by number would never be looked up, nor checked.
 */
export function mayHaveDocument(url: string): boolean {
  if (url.length > URL_CHARS_MAX || !URL.canParse(url) || /[?#]/.test(url)) return false;
  const { protocol, hostname, port, pathname, username, password, href } = new URL(url);
  const isPlain = protocol === "https:" && href === url && port + username + password === "";
  const isName = isIP(hostname) === 0 && /\.[^.\]]+$/.test(hostname);
  return isPlain && isName && pathname !== "/";
}

/**
 * Fetches the document at a client's id: from a public address, without following redirects, within five seconds
 * and five kilobytes.
 *
 * @throws MemoryError `invalid_argument`. It never says what was found: the caller chose the address.
 */
export async function fetchDocument(
  url: string,
  connecting: Connecting = { lookup: guardedLookup() },
): Promise<unknown> {
  if (!mayHaveDocument(url))
    throw invalid("client_id", "is not a plain address of HTTPS, with a path, at a host of the internet");
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return JSON.parse(await bodyOf(await ask(url, { ...connecting, signal })));
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw new MemoryError("invalid_argument", "client_id: no document of a client can be fetched there", {
      field: "client_id",
      cause: error,
    });
  }
}

function ask(url: string, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // No agent: no connection is kept, and none is used that another request has opened.
    const headers = { accept: "application/json", "user-agent": "recalld" };
    request(url, { ...options, agent: false, headers }, resolve)
      .on("error", reject)
      .on("socket", (socket) => {
        let bytes = 0;
        // Before the listener of Node's own, which parses them.
        socket.prependListener("data", ({ byteLength }: Buffer) => {
          bytes += byteLength;
          if (bytes > ANSWER_BYTES_MAX) socket.destroy(new Error("too large"));
        });
      })
      .end();
  });
}

async function bodyOf(answer: IncomingMessage): Promise<string> {
  const type = answer.headers["content-type"] ?? "";
  try {
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) throw new Error("not JSON");
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > DOCUMENT_BYTES_MAX) throw new Error("too large");
      chunks.push(chunk);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } finally {
    answer.destroy();
  }
}
