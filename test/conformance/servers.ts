import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import type { FileRegistry } from "@bufbuild/protobuf";
import { compressionGzip, connectNodeAdapter } from "@connectrpc/connect-node";
import { KeyLimits } from "../../src/accounts/key-limits.js";
import { Plans } from "../../src/accounts/plan.js";
import { mountRpcs } from "../../src/server/app.js";
import { httpServer } from "../../src/server/http/http-server.js";
import { openLog } from "../../src/server/logging.js";
import { ConnectionCounts } from "../../src/server/port/connection-counts.js";
import { Readiness } from "../../src/server/port/readiness.js";
import { BodyRoom } from "../../src/server/rpc/body-room.js";
import { gate } from "../../src/server/rpc/caller.js";
import { dressHandlers } from "../../src/server/rpc/handlers.js";
import { addConformanceService, SERVICE } from "./service.js";

const HOST = "127.0.0.1";
/** Number of connections that one address may open: the suite opens one for each call. */
const CONNECTIONS = 1000;

/** Servers of the suite's service. */
export interface Servers {
  /** Port of each version of HTTP. */
  readonly ports: readonly [http1: number, http2: number];
  close(): void;
}

/** Serves as recalld serves its own RPCs: on its one port, with its wrappers, behind its gate, without a key. */
export async function openRecalld(registry: FileRegistry): Promise<Servers> {
  const { logger } = openLog("error");
  const onFault = (error: unknown) => logger.error({ err: error }, "fault");
  const app = httpServer({
    readiness: new Readiness(),
    trustedProxies: [],
    connections: { connectionsMax: CONNECTIONS, connectionsPerAddressMax: CONNECTIONS },
    connectionCounts: new ConnectionCounts(),
    corsOrigins: [],
    cookies: { take: () => {} },
    tls: undefined,
    logger,
    onFault,
  });
  mountRpcs(app, {
    routes: (router) => {
      addConformanceService(router, registry);
      dressHandlers(router, {
        plainPaths: {},
        bodyBytesMax: () => 1_048_576,
        onBegin: () => ({ end: () => {} }),
        onEnd: () => {},
      });
    },
    admit: gate({
      authenticate: () => Promise.reject(new Error("no call needs a key")),
      plans: new Plans([]),
      keyLimits: new KeyLimits(),
      open: [`${SERVICE}/`],
    }),
    bodyRoom: new BodyRoom(),
    shutdownSignal: new AbortController().signal,
    registry,
    onFault,
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
