import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, it } from "vitest";
import { type DatabaseKind, LOCAL_DATABASE, type TestDatabase } from "./databases.js";
import { type Protocol, protocolsOf, type RpcName } from "./protocols.js";
import { MANY_CALLS, sharedServer, type TestServer } from "./server.js";

const TIMEOUT_MS = 60_000;

/** A server on a database of its own; a test may put another one in its place. */
export interface OnDatabase {
  database: TestDatabase;
  server: TestServer;
  protocol: Protocol;
  /** Like `it`, but skipped where there is no such database. */
  readonly test: ReturnType<typeof it.skipIf>;
}

/** Starts a server on a new database before the tests of a `describe`, and stops it after them. */
export function onDatabase({ make, missing }: DatabaseKind, env?: Record<string, string>): OnDatabase {
  const here = { test: it.skipIf(missing !== undefined) } as OnDatabase;
  beforeAll(async () => {
    if (missing !== undefined) return;
    here.database = await make();
    await restart(here, env);
  }, TIMEOUT_MS);
  afterAll(() => here.server?.stop());
  return here;
}

/** The shared server, or one on another kind of database, for tests as `sharedServer` describes them. */
export function onSharedServer({ make, missing }: DatabaseKind): Omit<OnDatabase, "database"> {
  const here = { test: it.skipIf(missing !== undefined) } as OnDatabase;
  const isShared = make === LOCAL_DATABASE.make;
  beforeAll(async () => {
    if (missing !== undefined) return;
    const own = async () => (await make()).start({ FREE_CALLS: String(MANY_CALLS) });
    here.server = await (isShared ? sharedServer() : own());
    here.protocol = protocolsOf(here.server.url)[0] as Protocol;
  }, TIMEOUT_MS);
  afterAll(async () => {
    if (!isShared) await here.server?.stop();
  });
  return here;
}

/** Starts a server on the database in place of one that has ended. */
export async function restart(here: OnDatabase, env?: Record<string, string>): Promise<void> {
  here.server = await here.database.start(env);
  here.protocol = protocolsOf(here.server.url)[0] as Protocol;
}

/** Opens an account over a protocol. Each call must succeed. */
export async function openAccountAt(protocol: Protocol) {
  const { body } = await protocol.call("SignUp", {});
  return accountWith(protocol, String(body.api_key));
}

/** Makes calls with a key. Each of them must succeed. */
export function accountWith(protocol: Protocol, key: string) {
  const call = async (rpc: RpcName, request: JsonObject = {}): Promise<JsonObject> => {
    const { code, message, body } = await protocol.call(rpc, request, { key });
    if (code !== "ok") throw new Error(`${rpc}: ${code}, ${message}`);
    return body;
  };
  const used = async () => (await call("GetAccount")).calls_used as number;
  return { key, call, used };
}
