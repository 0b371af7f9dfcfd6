import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { ConnectRouter } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { compressionGzip } from "@connectrpc/connect-node";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from "fastify";
import { Health } from "../../gen/health/v1/health_pb.js";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { Guest } from "../accounts/authenticate.js";
import { KeyLimits } from "../accounts/key-limits.js";
import type { Plans } from "../accounts/plan.js";
import { type AccountPorts, accountService } from "./account-service.js";
import { contextOf, gate } from "./caller.js";
import { clientAddresses, clientAddressKey, inBlocks } from "./client-address.js";
import type { ConnectionCounts } from "./connection-counts.js";
import { allowOrigins } from "./cors.js";
import { deadline } from "./deadline.js";
import { translated, translateErrors } from "./errors.js";
import { dressHandlers } from "./handlers.js";
import { registerHealth } from "./health.js";
import { type Load, shedLoad } from "./load.js";
import { type MemoryPorts, memoryService } from "./memory-service.js";
import { noteMethods } from "./methods.js";
import type { Call, CallWatcher, ObserveOptions } from "./observe.js";
import { createOnePortServer } from "./one-port.js";
import { ONE_PORT_LIMITS, type OnePortLimits } from "./one-port-limits.js";
import { addReference } from "./openapi.js";
import { answerUnreadable, answerUnroutable, sendError, shapeFastifyErrors } from "./plain-errors.js";
import { PLAIN_PATHS } from "./plain-paths.js";
import { addPortal } from "./portal.js";
import type { PortalFile } from "./portal-files.js";
import { addProbes } from "./probes.js";
import type { Readiness } from "./readiness.js";
import { registerReflection } from "./reflection.js";
import { addResourcePaths } from "./resource-paths.js";
import { limitSignUps, SignUpLimit, type SignUpLimits } from "./sign-up-limit.js";
import type { Tls } from "./tls.js";

/**
 * The largest request: a text of 65,536 bytes, metadata of 16,384 and a namespace of 256, every byte
 * written as a JSON escape of six, with room to spare.
 */
export const BODY_BYTES_MAX = 1_048_576;
/** The largest answer: a page of 100 texts and their metadata, every byte written as an escape of six. */
const ANSWER_BYTES_MAX = 67_108_864;
/** What a call may take at most, whatever its client allows it. */
const CALL_TIMEOUT_MS = 30_000;
/** A caller's own request id is taken over when it looks like one, and not like a key: it is logged. */
const REQUEST_ID = /^(?!.*rcl_)[A-Za-z0-9._:-]{1,128}$/;

const OPEN_TO_ALL = ["recalld.v1.AccountService/SignUp", "grpc.health.v1.Health/", "grpc.reflection."];

export interface AppOptions {
  readonly memory: MemoryPorts;
  readonly accounts: AccountPorts;
  readonly readiness: Readiness;
  readonly logger: FastifyBaseLogger;
  /** Aborted when the calls that still run must end. */
  readonly shutdownSignal: AbortSignal;
  readonly portal: readonly PortalFile[];
  readonly signUps: SignUpLimits;
  /** Blocks of addresses (CIDR). */
  readonly trustedProxies: readonly string[];
  readonly connections: Pick<OnePortLimits, "connectionsMax" | "connectionsPerAddressMax">;
  /** Kept by the server, for whoever wants to see them. */
  readonly connectionCounts: ConnectionCounts;
  readonly corsOrigins: readonly string[];
  /** HTTPS when given. */
  readonly tls: Tls | undefined;
  authenticate(key: string | undefined): Promise<Guest>;
  readonly plans: Plans;
  readonly load: Pick<Load, "admit">;
  /** Told of each call as it begins. */
  readonly onCall?: ObserveOptions["onBegin"];
}

const UNWATCHED: CallWatcher = { end: () => {} };

/** Browsers that came once over HTTPS do not come over HTTP for a year. */
const HSTS = "max-age=31536000";

/** The doors: every protocol on one port. */
export function createApp(options: AppOptions): FastifyInstance {
  const { logger, readiness, shutdownSignal, tls } = options;
  const app = Fastify({
    loggerInstance: logger,
    // One line a call, written when it ends, in place of Fastify's two.
    logController: new LogController({ disableRequestLogging: true }),
    serverFactory: (handler) =>
      createOnePortServer(handler, {
        tls,
        isProxy: inBlocks(options.trustedProxies),
        counts: options.connectionCounts,
        ...options.connections,
      }),
    genReqId: (request) => requestId(request.headers["x-request-id"]),
    exposeHeadRoutes: false,
    // A namespace of 256 bytes, percent-encoded.
    routerOptions: { maxParamLength: 768 },
    frameworkErrors: answerUnroutable,
    clientErrorHandler: (error, socket) => {
      if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") options.connectionCounts.cutOff.request += 1;
      answerUnreadable(error, socket);
    },
    // What comes while running calls finish is served like them: readiness keeps new callers away.
    return503OnClosing: false,
  });
  const closing = new AbortController();
  app.addHook("preClose", async () => closing.abort());
  const isPreflight = allowOrigins(options.corsOrigins);
  app.addHook("onRequest", async (request, reply) => {
    request.raw.headers["x-request-id"] = request.id;
    reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff" });
    if (tls !== undefined) reply.header("strict-transport-security", HSTS);
    // Whoever keeps its connection would come again; HTTP/2 has GOAWAY for this, once the notice is over.
    if (readiness.leaving && request.raw.httpVersionMajor === 1) reply.raw.setHeader("connection", "close");
    nameHost(request.raw);
    if (request.raw.rawHeaders.length > 2 * ONE_PORT_LIMITS.headerLinesMax) return tooManyHeaders(reply);
    return isPreflight(request, reply) ? reply : undefined;
  });
  const onFault = (error: unknown, requestId: string | null = null) =>
    logger.error({ err: error, requestId }, "fault");
  shapeFastifyErrors(app, onFault);
  // No body is read before its handler asks for it, and the handlers judge its type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  const answerOtherMethods = noteMethods(app);
  addProbes(app, readiness);
  addReference(app);
  addPortal(app, options.portal);
  const addressOf = clientAddresses(options.trustedProxies);
  const limitSignUp = limitSignUps(new SignUpLimit(options.signUps));
  const { authenticate, plans } = options;
  const shed = shedLoad(options.load);
  const admit = gate({ authenticate, plans, keyLimits: new KeyLimits(), open: OPEN_TO_ALL });
  const handlers = new Map<string, UniversalHandler>();
  app.register(fastifyConnectPlugin, {
    routes: (router) => {
      addRoutes(router, options, closing.signal);
      for (const handler of router.handlers) handlers.set(handler.requestPath, handler);
    },
    contextValues: ({ raw }) => contextOf(raw).set(clientAddressKey, addressOf(raw)),
    requestGate: async (context) => {
      try {
        shed(context);
        limitSignUp(context);
        await admit(context);
      } catch (error) {
        throw translated(error);
      }
    },
    interceptors: [translateErrors(onFault), deadline(CALL_TIMEOUT_MS)],
    acceptCompression: [compressionGzip],
    readMaxBytes: BODY_BYTES_MAX,
    writeMaxBytes: ANSWER_BYTES_MAX,
    // snake_case, and fields at their defaults are there; an unknown field is an error.
    jsonOptions: { useProtoFieldName: true, alwaysEmitImplicit: true, ignoreUnknownFields: false },
    shutdownSignal,
  });
  addResourcePaths(app, (rpc) => handlers.get(rpc) as UniversalHandler);
  answerOtherMethods();
  return app;
}

function addRoutes(
  router: ConnectRouter,
  { memory, accounts, readiness, logger, onCall = () => UNWATCHED }: AppOptions,
  closing: AbortSignal,
): void {
  router.service(MemoryService, memoryService(memory));
  router.service(AccountService, accountService(accounts));
  dressHandlers(router, {
    plainPaths: PLAIN_PATHS,
    bodyBytesMax: BODY_BYTES_MAX,
    onBegin: onCall,
    onEnd: (call) => logCall(logger, call),
  });
  registerHealth(router, { readiness, services: [MemoryService, AccountService], shutdownSignal: closing });
  registerReflection(router, [MemoryService, AccountService, Health]);
}

function logCall(logger: FastifyBaseLogger, { ms, ...call }: Call): void {
  logger.info({ ...call, ms: Math.round(ms * 100) / 100 }, "call");
}

/** Connect needs a host to read a request at all; HTTP/1.0 may leave it out, and nothing here depends on it. */
function nameHost({ headers }: IncomingMessage): void {
  const host = headers[":authority"] ?? headers.host;
  if (!URL.canParse(`http://${host ?? ""}`)) headers.host = "localhost";
}

/** Node would leave out what is over its own bound, which might be the key. */
function tooManyHeaders(reply: FastifyReply): FastifyReply {
  const message = `the request has more than ${ONE_PORT_LIMITS.headerLinesMax} headers`;
  return sendError(reply, 431, message);
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === "string" && REQUEST_ID.test(given) ? given : randomUUID();
}
