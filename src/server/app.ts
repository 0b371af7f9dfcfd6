import { setMaxListeners } from "node:events";
import { Code, ConnectError } from "@connectrpc/connect";
import { Health } from "../../gen/health/v1/health_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { Authenticate } from "../accounts/authenticate.js";
import type { GrantingOptions } from "../accounts/oauth/granting.js";
import type { GrantSecrets } from "../accounts/oauth/grants.js";
import type { Plans } from "../accounts/plan.js";
import { limitSignUps, type SignUpLimits } from "../accounts/sign-up.js";
import { Share } from "../concurrency/share.js";
import type { StreamPorts } from "../memory/operations/stream/open-streams.js";
import { Calls, type CallsOptions } from "./calls.js";
import { type HttpServerOptions, httpServer } from "./listen/http-server.js";
import type { OnePortServer } from "./listen/one-port.js";
import { addProbes } from "./listen/readiness.js";
import { sessionCookies } from "./listen/session-cookie.js";
import type { Load } from "./load.js";
import { addMcp } from "./mcp/transport.js";
import { openClients } from "./oauth/clients.js";
import { addOAuth } from "./oauth/routes.js";
import { addPortal, FILES_MAX } from "./portal/portal.js";
import { addRest } from "./rest/rpcs.js";
import { addSessions } from "./rest/sessions.js";
import { type AccountPorts, accountService } from "./rpc/account-service.js";
import { registerHealth } from "./rpc/health.js";
import { memoryService } from "./rpc/memory-service.js";
import { mountRpcs } from "./rpc/mount.js";
import { registerReflection } from "./rpc/reflection.js";
import { rpcsOf } from "./rpc/service.js";

/** Maximum size of a question to health and reflection, which hold a name and need no key. */
const OPEN_BODY_BYTES_MAX = 16_384;

export interface AppOptions extends Omit<HttpServerOptions, "cookies"> {
  readonly memory: StreamPorts;
  readonly accounts: AccountPorts & Pick<GrantingOptions, "grants"> & { readonly grantSecrets: GrantSecrets };
  /** Aborted when the calls that still run must end. */
  readonly shutdownSignal: AbortSignal;
  readonly portal: string;
  readonly signUps: SignUpLimits;
  readonly authenticate: Authenticate;
  readonly plans: Plans;
  readonly load: Pick<Load, "check">;
  /** The server's public origin, which is its name in OAuth; undefined where that is off. */
  readonly issuer: string | undefined;
  /** Fetches the document of a client, in tests otherwise than from the internet. */
  readonly fetchDocument: ((url: string) => Promise<unknown>) | undefined;
  readonly onBegin: CallsOptions["onBegin"];
}

/** Creates the server: every protocol on one port. */
export function createApp(options: AppOptions) {
  const { readiness, shutdownSignal, issuer, corsOrigins, signUps } = options;
  const cookies = sessionCookies({ tls: options.tls !== undefined, proxies: options.proxies });
  const app = httpServer({ ...options, cookies });
  const connections = (app.server as OnePortServer).counts;
  const closing = new AbortController();
  // One listener for each open watch is no leak.
  setMaxListeners(0, closing.signal);
  app.addHook("preClose", async () => closing.abort());
  const calls = new Calls({
    ...options,
    checkSignUp: limitSignUps(signUps),
    recorder: options.accounts.calls,
  });
  shutdownSignal.addEventListener("abort", () =>
    calls.abortAll(ConnectError.from(shutdownSignal.reason, Code.Unavailable)),
  );
  app.addHook("onClose", async () => calls.close());
  addProbes(app, readiness);
  const files = new Share({ total: FILES_MAX, what: "files being sent" });
  addPortal(app, { folder: options.portal, authorizes: issuer !== undefined, files });
  const rpcs = new Map([
    ...rpcsOf(MemoryService, memoryService(options.memory, { ending: closing.signal, calls })),
    ...rpcsOf(AccountService, accountService(options.accounts)),
  ]);
  mountRpcs(app, {
    calls,
    rpcs: [...rpcs.values()],
    openBytesMax: OPEN_BODY_BYTES_MAX,
    addOpen: (router) => {
      const contract = [MemoryService, AccountService];
      registerHealth(router, { readiness, services: contract, shutdownSignal: closing.signal });
      registerReflection(router, [...contract, Health]);
    },
  });
  addRest(app, { calls, rpcs });
  addSessions(app, { calls, cookies, accounts: options.accounts.accounts });
  const clients = openClients(options.accounts.grantSecrets, options.fetchDocument);
  if (issuer !== undefined) {
    addOAuth(app, { issuer, granting: options.accounts, clients, calls, limits: signUps });
  }
  addMcp(app, { calls, rpcs, corsOrigins, issuer });
  const shares = {
    ...calls.shares,
    connections: connections.connections,
    http2_streams: connections.http2Streams,
    files,
    client_documents: clients.fetches,
  };
  return { app, calls, connections, shares };
}
