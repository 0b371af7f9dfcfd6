import { type ClientHttp2Session, connect } from "node:http2";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { haproxy } from "../support/balancer.js";
import { type Caller, signUp } from "../support/caller.js";
import { QUICK, quickly } from "../support/quick.js";
import { sharedServer, type TestServer } from "../support/server.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Number of calls, above a session's 100 streams: if each left one open, the last calls would be refused. */
const CALLS = 120;
/** Body just over the limit, so that it arrives whole. */
const BODY = Buffer.alloc(1_100_000, " ");
/** The same body as one message of gRPC. */
const ENVELOPE = Buffer.concat([Buffer.from([0]), length(BODY), BODY]);
const JSON_TYPE = { "content-type": "application/json" };
const GRPC_TYPE = { "content-type": "application/grpc", te: "trailers" };

function length({ length: bytes }: Buffer): Buffer {
  const written = Buffer.alloc(4);
  written.writeUInt32BE(bytes);
  return written;
}

const MISTAKES: [string, string, Record<string, string>, Buffer, string][] = [
  ["a store", "/store", JSON_TYPE, BODY, "413"],
  ["a store over Connect", "/recalld.v1.MemoryService/Store", JSON_TYPE, BODY, "429"],
  ["a store over gRPC", "/recalld.v1.MemoryService/Store", GRPC_TYPE, ENVELOPE, "grpc 8"],
  ["a sign-up", "/signup", JSON_TYPE, BODY, "413"],
  ["a store without a key", "/store", { ...JSON_TYPE, authorization: "" }, BODY, "401"],
  ["a question about health", "/grpc.health.v1.Health/Check", GRPC_TYPE, ENVELOPE, "grpc 8"],
  ["a path that is not there", "/nowhere", JSON_TYPE, BODY, "404"],
  ["a wrong content type", "/store", { "content-type": "text/plain" }, BODY, "415"],
];

let server: TestServer;
let caller: Caller;
beforeAll(async () => {
  server = await sharedServer();
  caller = await signUp(server.url);
});

function dial(url: string): ClientHttp2Session {
  // Node's client counts unsent data against its session, which is not tested here.
  const session = connect(url, { maxSessionMemory: 4_000 });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Posts a body and returns the HTTP or gRPC status. */
async function post(session: ClientHttp2Session, path: string, header: object, body: Buffer) {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    authorization: `Bearer ${caller.key}`,
    ...header,
  });
  let status: unknown = "none";
  const note = (found: Record<string, unknown>) => {
    status =
      found["grpc-status"] === undefined
        ? String(found[":status"] ?? status)
        : `grpc ${found["grpc-status"]}`;
  };
  stream
    .on("response", note)
    .on("trailers", note)
    .on("error", () => {})
    .resume()
    .end(body);
  await new Promise((resolve) => stream.once("close", resolve));
  return status;
}

const recall = (session: ClientHttp2Session) =>
  post(session, "/recall", JSON_TYPE, Buffer.from('{"query":"a","namespace":"n"}'));

describe("a connection on which bodies were too large", () => {
  quickly.each(MISTAKES)("serves on after many of %s", async (_, path, header, body, expected) => {
    const session = dial(server.url);
    for (let call = 0; call < CALLS; call++) expect(await post(session, path, header, body)).toBe(expected);
    expect(await recall(session)).toBe("200");
  });

  const balancer = haproxy();
  const reason = !QUICK ? balancer.missing : "`npm run test:all` has this";
  const missing = reason === undefined ? "" : ` (${reason})`;
  it.skipIf(reason !== undefined)(
    `is shared behind a balancer, and still serves everybody${missing}`,
    async () => {
      const { url, stop } = await balancer.start([server.url, server.url, server.url]);
      onTestFinished(stop);
      for (const [_, path, header, body] of MISTAKES.slice(0, 5)) {
        const session = dial(url);
        for (let call = 0; call < CALLS; call++) await post(session, path, header, body);
      }
      const session = dial(url);
      for (let call = 0; call < CALLS; call++) expect(await recall(session)).toBe("200");
    },
  );
});
