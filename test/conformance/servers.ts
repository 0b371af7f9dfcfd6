import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import type { FileRegistry } from "@bufbuild/protobuf";
import { compressionGzip, connectNodeAdapter } from "@connectrpc/connect-node";
import { Plans } from "../../src/accounts/plan.js";
import { limitSignUps } from "../../src/accounts/sign-up.js";
import { NO_TIMINGS } from "../../src/memory/ports/step-timer.js";
import { Calls } from "../../src/server/calls.js";
import { TrustedProxies } from "../../src/server/listen/client-address.js";
import { httpServer } from "../../src/server/listen/http-server.js";
import { ONE_PORT_LIMITS } from "../../src/server/listen/one-port-limits.js";
import { Readiness } from "../../src/server/listen/readiness.js";
import { openLog } from "../../src/server/logging.js";
import { mountRpcs } from "../../src/server/rpc/mount.js";
import { addConformanceService } from "./service.js";

const HOST = "127.0.0.1";
/** Number of connections that one address may open: the suite opens one for each call. */
const CONNECTIONS = 1000;
const BODY_BYTES_MAX = 1_048_576;

/** Servers of the suite's service. */
export interface Servers {
  /** Port of each version of HTTP. */
  readonly ports: readonly [http1: number, http2: number];
  close(): void;
}

/** Serves as recalld serves its open services: on its one port, with its calls, without a key. */
export async function openRecalld(registry: FileRegistry): Promise<Servers> {
  const { logger } = openLog("error");
  const app = httpServer({
    readiness: new Readiness(),
    proxies: new TrustedProxies([]),
    connectionsMax: ONE_PORT_LIMITS.connectionsMax,
    connectionsPerAddressMax: CONNECTIONS,
    corsOrigins: [],
    cookies: { take: () => {} },
    tls: undefined,
    logger,
  });
  const calls = new Calls({
    authenticate: () => Promise.reject(new Error("no call needs a key")),
    plans: new Plans([]),
    load: { check: () => {} },
    checkSignUp: limitSignUps({ perHour: 1, perHourTotal: 1 }),
    recorder: { note: () => {} },
    onBegin: () => ({ timer: NO_TIMINGS, end: () => {} }),
    logger,
  });
  mountRpcs(app, {
    rpcs: [],
    addOpen: (router) => addConformanceService(router, registry),
    openBytesMax: BODY_BYTES_MAX,
    calls,
    registry,
  });
  await app.listen({ host: HOST, port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { ports: [port, port], close: () => void app.close() };
}

/** Serves by Connect's own adapter for Node. */
export async function openConnect(registry: FileRegistry): Promise<Servers> {
  const handler = connectNodeAdapter({
    routes: (router) => addConformanceService(router, registry),
    jsonOptions: { registry },
    acceptCompression: [compressionGzip],
  });
  const servers = [createServer(handler), createHttp2Server(handler)] as const;
  const listen = async (server: Pick<Server, "listen" | "address" | "once">) => {
    server.listen(0, HOST);
    await once(server as Server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const ports = [await listen(servers[0]), await listen(servers[1] as unknown as Server)] as const;
  return { ports, close: () => servers.forEach((server) => void server.close()) };
}
