import type { ConnectRouter, ContextValues } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { Health } from "../../gen/health/v1/health_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { Authenticate } from "../accounts/authenticate.js";
import { KeyLimits } from "../accounts/key-limits.js";
import type { Plans } from "../accounts/plan.js";
import type { Share } from "../concurrency/share.js";
import { type HttpServerOptions, httpServer } from "./http/http-server.js";
import { PLAIN_PATHS } from "./http/plain-paths.js";
import { addProbes } from "./http/probes.js";
import { addResourcePaths } from "./http/resource-paths.js";
import { addSessionPaths } from "./http/session-paths.js";
import { addStreamPaths } from "./http/stream-paths.js";
import { addMcp } from "./mcp/door.js";
import { addOAuth, type OAuthOptions } from "./oauth/door.js";
import { challengeOf } from "./oauth/metadata.js";
import { sessionCookies } from "./port/session-cookie.js";
import { addPortal } from "./portal/portal.js";
import { type AccountPorts, accountService } from "./rpc/account-service.js";
import { handMessage, refusalKey } from "./rpc/bodies.js";
import { BodyRoom, bodyRoomKey } from "./rpc/body-room.js";
import { type Admitted, admit, browserContextOf, gate, identify } from "./rpc/caller.js";
import { CALL_TIMEOUT_MS, deadline } from "./rpc/deadline.js";
import { dressHandlers, dressOpenHandlers } from "./rpc/handlers.js";
import { registerHealth } from "./rpc/health.js";
import { type Load, shedLoad } from "./rpc/load.js";
import { type MemoryPorts, memoryService } from "./rpc/memory/memory-service.js";
import { noteCall } from "./rpc/note-call.js";
import type { Call, CallWatcher, ObserveOptions } from "./rpc/observe.js";
import { registerReflection } from "./rpc/reflection.js";
import { sessionService } from "./rpc/session-service.js";
import { limitSignUps, SignUpLimit, type SignUpLimits } from "./rpc/sign-up-limit.js";
import { translated, translateErrors } from "./wire/errors.js";

/**
 * Maximum size of a request: a text of 65,536 bytes, metadata of 16,384 and a namespace of 256, every byte
 * written as a JSON escape of six, with room to spare.
 */
export const BODY_BYTES_MAX = 1_048_576;
/** Maximum size of a batch. */
export const BATCH_BODY_BYTES_MAX = 8_388_608;
/** Maximum size of a question to health and reflection, which hold a name and need no key. */
const OPEN_BODY_BYTES_MAX = 16_384;
/** Maximum size of an answer: a page of 100 texts and their metadata, each byte as an escape of six. */
const ANSWER_BYTES_MAX = 67_108_864;
const OPEN_TO_ALL = ["recalld.v1.AccountService/SignUp", "grpc.health.v1.Health/", "grpc.reflection."];

export interface AppOptions extends Omit<HttpServerOptions, "onFault" | "cookies"> {
  readonly memory: MemoryPorts;
  readonly accounts: AccountPorts;
  /** Aborted when the calls that still run must end. */
  readonly shutdownSignal: AbortSignal;
  /** Folder of the built portal. */
  readonly portal: string;
  /** Files that are being sent, by network. */
  readonly files: Share;
  readonly signUps: SignUpLimits;
  readonly authenticate: Authenticate;
  readonly plans: Plans;
  readonly load: Pick<Load, "admit">;
  /** Ports and address of OAuth; undefined where it is off. */
  readonly oauth: Pick<OAuthOptions, "issuer" | "granting" | "findDocument"> | undefined;
  /** Called with each call as it begins. */
  readonly onCall?: ObserveOptions["onBegin"];
}

const UNWATCHED: CallWatcher = { end: () => {} };

/** Creates the doors: every protocol on one port. */
export function createApp(options: AppOptions): FastifyInstance {
  const { logger, readiness, shutdownSignal } = options;
  const onFault = (error: unknown, requestId: string | null = null) =>
    logger.error({ err: error, requestId }, "fault");
  const onRefused = (error: unknown, values: ContextValues) => void values.set(refusalKey, error);
  const { trustedProxies, tls } = options;
  const cookies = sessionCookies({ tls: tls !== undefined, trustedProxies });
  const app = httpServer({ ...options, cookies, onFault });
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  addProbes(app, readiness);
  addPortal(app, { folder: options.portal, authorizes: options.oauth !== undefined, files: options.files });
  const limitSignUp = limitSignUps(new SignUpLimit(options.signUps));
  const { authenticate, plans } = options;
  const shed = shedLoad(options.load);
  const admission = { authenticate, plans, keyLimits: new KeyLimits() };
  const admitCall = gate({ ...admission, open: OPEN_TO_ALL });
  const bodyRoom = new BodyRoom();
  const handlers = new Map<string, UniversalHandler>();
  app.register(fastifyConnectPlugin, {
    routes: (router) => {
      addRoutes(router, options, closing.signal);
      for (const handler of router.handlers) handlers.set(handler.requestPath, handler);
    },
    contextValues: ({ raw }) => browserContextOf(raw).set(bodyRoomKey, bodyRoom),
    requestGate: async (context) => {
      try {
        shed(context);
        limitSignUp(context);
        await admitCall(context);
      } catch (error) {
        context.values.set(refusalKey, error);
        throw translated(error);
      }
    },
    interceptors: [handMessage, translateErrors(onFault, onRefused), deadline(CALL_TIMEOUT_MS, onFault)],
    acceptCompression: [compressionGzip],
    readMaxBytes: BATCH_BODY_BYTES_MAX,
    writeMaxBytes: ANSWER_BYTES_MAX,
    // snake_case, with fields at their defaults; an unknown field is an error.
    jsonOptions: { useProtoFieldName: true, alwaysEmitImplicit: true, ignoreUnknownFields: false },
    shutdownSignal,
  });
  const handlerOf = (rpc: string) => handlers.get(rpc) as UniversalHandler;
  addResourcePaths(app, handlerOf);
  addStreamPaths(app, handlerOf);
  const plainly = {
    ...{ bodyRoom, onFault, onEnd: (call: Call) => logCall(logger, call) },
    admit: async (context: Admitted) => {
      options.load.admit(undefined);
      await admit(context, admission);
    },
  };
  addSessionPaths(app, {
    ...{ ...sessionService(options.accounts), ...plainly, cookies },
    identify: (context) => identify(context, admission),
  });
  const { oauth } = options;
  if (oauth !== undefined) {
    const limits = options.signUps;
    addOAuth(app, { ...plainly, ...oauth, limits, load: options.load });
  }
  addMcp(app, {
    ...{ gate: admission, load: options.load, corsOrigins: options.corsOrigins, onFault },
    ...{ bodyRoom, bodyBytesMax: BODY_BYTES_MAX, handlerOf },
    ...(oauth && { challenge: (hasKey) => challengeOf(oauth.issuer, { hasKey }) }),
  });
  return app;
}

function addRoutes(
  router: ConnectRouter,
  { memory, accounts, readiness, logger, onCall = () => UNWATCHED }: AppOptions,
  closing: AbortSignal,
): void {
  router.service(MemoryService, memoryService(memory, closing));
  router.service(AccountService, accountService(accounts));
  dressHandlers(router, {
    plainPaths: PLAIN_PATHS,
    bodyBytesMax: (method) =>
      method === MemoryService.method.storeBatch ? BATCH_BODY_BYTES_MAX : BODY_BYTES_MAX,
    onBegin: onCall,
    onEnd: (call, values) => {
      logCall(logger, call);
      noteCall(accounts.calls, call, values);
    },
  });
  const from = router.handlers.length;
  registerHealth(router, { readiness, services: [MemoryService, AccountService], shutdownSignal: closing });
  registerReflection(router, [MemoryService, AccountService, Health]);
  dressOpenHandlers(router, { from, bytesMax: OPEN_BODY_BYTES_MAX });
}

function logCall(logger: FastifyBaseLogger, { ms, ...call }: Call): void {
  logger.info({ ...call, ms: Math.round(ms * 100) / 100 }, "call");
}
