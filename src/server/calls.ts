import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { FastifyBaseLogger } from "fastify";
import { AccountService } from "../../gen/recalld/v1/account_pb.js";
import { MemoryService } from "../../gen/recalld/v1/memory_pb.js";
import type { Authenticate, Credential } from "../accounts/authenticate.js";
import type { CallRecorder } from "../accounts/calls/record-calls.js";
import type { Plan, Plans } from "../accounts/plan.js";
import { PlanLimits } from "../accounts/plan-limits.js";
import type { CheckSignUp } from "../accounts/sign-up.js";
import { callEvery } from "../concurrency/every.js";
import type { Share } from "../concurrency/share.js";
import { isUnavailable, MemoryError, type Reason } from "../errors.js";
import type { BegunCall, CallWatcher } from "../memory/ports/step-timer.js";
import { parseNamespace } from "../memory/requests/namespace.js";
import { Call, CallMemory, type CallOptions } from "./call.js";
import { INTERNAL_MESSAGE, wireErrorOf } from "./errors.js";
import { onTaken } from "./listen/open-requests.js";
import { noteRefusal } from "./listen/refusals.js";
import type { Load } from "./load.js";
import { nameOf, type Rpc } from "./rpc/service.js";

/** Interval of the check for calls that have taken too long. */
const DEADLINE_CHECK_MS = 250;

/** Bytes that a call writes for one token of its key's rate, where writing costs no call of the plan. */
const BYTES_PER_TOKEN = 16_384;

function tokensFor(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_TOKEN);
}

/** Factor by which a request with a filter takes more memory: each value of a filter's lists is in a set as well. */
const FILTER_TIMES = 7;

export interface CallsOptions {
  readonly logger: FastifyBaseLogger;
  readonly authenticate: Authenticate;
  readonly plans: Plans;
  readonly load: Pick<Load, "check">;
  readonly checkSignUp: CheckSignUp;
  readonly recorder: Pick<CallRecorder, "note">;
  /** Called with each RPC as it begins. */
  onBegin(call: BegunCall): CallWatcher;
}

/** Trace id in a `traceparent` header of W3C Trace Context, version 00 and later ones. */
const TRACE_PARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}(?:-|$)/;

/** RPC that needs no key. */
export const SIGN_UP = nameOf(AccountService.method.signUp);

/** All calls of a server. Each is opened, begun when its headers are known, and ended once. */
export class Calls {
  readonly #memory = new CallMemory();
  readonly #limits = new PlanLimits();
  readonly #running = new Set<Call>();
  /**
   * Number of RPCs that use the main thread now. Streams are not counted, because they mostly wait, nor is the message
   * of MCP in which an RPC runs.
   */
  running = 0;
  readonly close = callEvery(DEADLINE_CHECK_MS, () => this.#timeOutOverdue());

  constructor(private readonly options: CallsOptions) {}

  /** What calls share, by its name in the metrics. */
  get shares(): Readonly<Record<string, Share>> {
    const { small, large } = this.#memory;
    return { small_memory: small, memory: large, running_calls: this.#limits.running };
  }

  open(options: CallOptions): Call {
    const call = new Call(options, this.#memory);
    this.#running.add(call);
    if (call.isRpc) {
      if (!call.streams) this.running += 1;
      call.watcher = this.options.onBegin(call);
    }
    // An unread answer is held in memory until it is taken.
    onTaken(options.request, () => {
      if (this.#running.has(call)) call.abort(new ConnectError("the client has gone", Code.Canceled));
      call.release();
    });
    return call;
  }

  /**
   * Lets a call in before its body is read: refuses it if the server is too busy, finds its caller, and counts it
   * for the caller's plan.
   *
   * @throws MemoryError `unavailable`, `unauthenticated` or `resource_exhausted`, or ConnectError `invalid_argument`
   * for a malformed timeout, or the reason for which the call was aborted.
   */
  async begin(call: Call): Promise<void> {
    this.checkLoad();
    // As Connect does for its own protocols: before the key is checked, so that the refusal costs its owner nothing.
    if (call.timeoutError !== undefined) {
      noteRefusal(call.request);
      throw call.timeoutError;
    }
    if (call.abortReason !== undefined) throw call.abortReason;
    if (call.method === SIGN_UP) {
      const takeBack = this.options.checkSignUp(call.network);
      call.onRelease(() => {
        if (isUnavailable(call.error)) takeBack();
      });
      return;
    }
    const principal = await this.authenticate(call);
    const plan = this.options.plans.get(principal.plan);
    try {
      this.#limits.begin(principal, plan);
      call.onRelease(() => this.#limits.end(principal));
    } finally {
      this.#setRateLimitHeaders(call, principal.keyHash, plan);
    }
  }

  /** @throws MemoryError `unavailable` while the server is too busy. */
  checkLoad(): void {
    this.options.load.check();
  }

  /** Finds the caller. @throws MemoryError `unauthenticated`, or `resource_exhausted`. */
  async authenticate(call: Call): Promise<NonNullable<Call["principal"]>> {
    const found = await this.options.authenticate(credentialOf(call), call.network);
    // A copy, because what a call uses is counted by its principal.
    call.principal = { ...found };
    return call.principal;
  }

  /**
   * Takes of the caller's rate for bytes that a call writes and that cost no call of its plan. Those that are too few
   * for a token count with the call's next ones.
   *
   * @throws MemoryError `resource_exhausted` if others have used the rate up meanwhile.
   */
  spendOnWrite(call: Call, bytes: number): void {
    const { caller, writtenBytes } = call;
    const tokens = tokensFor(writtenBytes + bytes) - tokensFor(writtenBytes);
    this.#limits.spend(caller, this.options.plans.get(caller.plan), tokens);
    call.writtenBytes += bytes;
  }

  /** Runs the RPC on the call's message. @throws what the RPC throws, or the reason for which the call was aborted. */
  async run(call: Call, { descriptor, serve }: Rpc): Promise<Message> {
    const work = () => {
      const { message } = call;
      if (message !== undefined && "filter" in message && message.filter !== undefined)
        call.multiplyHeld(FILTER_TIMES);
      return serve(message as never, call) as Promise<Record<string, unknown>>;
    };
    const fields = await call.run(work, (error) => {
      if (isFault(error)) this.logFault(call, error);
    });
    return create(descriptor.output, fields);
  }

  /** Ends a call: logs it, measures it, and records it for its account. */
  end(call: Call): void {
    if (!this.#running.delete(call)) return;
    if (call.isRpc && !call.streams) this.running -= 1;
    call.clearTimer();
    const ms = performance.now() - call.startMs;
    // `ok`, or Connect's name of the error.
    const code = call.error === undefined ? "ok" : codeToString(wireErrorOf(call, call.error).code);
    const { id: requestId, method, protocol } = call;
    const accountId = call.principal?.accountId;
    if (call.error !== undefined && isFault(call.error)) this.logFault(call, call.error);
    if (isCountedRefusal(call.error)) noteRefusal(call.request);
    call.watcher?.end({ code, ms });
    if (!call.isReported) return;
    const traceId = call.watcher?.traceId ?? TRACE_PARENT.exec(String(call.headers.traceparent))?.[1];
    const line = { method, protocol, code, requestId, traceId, accountId, ms: Math.round(ms * 100) / 100 };
    this.options.logger.info(line, "call");
    if (call.isRpc) recordCall(this.options.recorder, call, { code, ms });
  }

  abortAll(reason: ConnectError): void {
    for (const call of this.#running) call.abort(reason);
  }

  logFault({ id: requestId }: Call, error: unknown): void {
    this.options.logger.error({ err: error, requestId }, "fault");
  }

  /**
   * Headers on the state of a key's limits: `RateLimit-Policy` and `RateLimit`, as
   * draft-ietf-httpapi-ratelimit-headers-10 has them. A bucket is given as its size (`q`) in the seconds that
   * fill it (`w`, rounded up, so that a client that keeps to it is never refused).
   */
  #setRateLimitHeaders(call: Call, keyHash: string, plan: Plan): void {
    const { concurrency } = plan;
    const rates = this.#limits.ratesOf(plan)?.keys;
    const policies: string[] = [];
    const limits: string[] = [];
    if (rates !== undefined) {
      const { perSecond, burst } = rates.rate;
      policies.push(`"rate";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`);
      limits.push(`"rate";r=${rates.left(keyHash)};t=${Math.ceil(rates.fullInMs(keyHash) / 1000)}`);
    }
    if (concurrency !== undefined) {
      policies.push(`"concurrency";q=${concurrency};qu="concurrent-requests"`);
      limits.push(`"concurrency";r=${concurrency - this.#limits.runningOf(keyHash)}`);
    }
    if (policies.length === 0) return;
    call.setHeader("ratelimit-policy", policies.join(", "));
    call.setHeader("ratelimit", limits.join(", "));
  }

  #timeOutOverdue(): void {
    const now = performance.now();
    for (const call of this.#running) if (now > call.deadlineMs) call.timeOut();
  }
}

/** Reasons of refusals that make a caller slow down. A connection with too many refusals is ended. */
const COUNTED_REASONS: readonly unknown[] = [
  "RATE_LIMITED",
  "KEY_RATE_LIMITED",
  "CONCURRENCY_LIMITED",
  "BODIES_LIMITED",
] satisfies Reason[];

function isCountedRefusal(error: unknown): boolean {
  return (
    error instanceof MemoryError &&
    (error.code === "unauthenticated" || COUNTED_REASONS.includes(error.reason))
  );
}

/** True for a fault of the server: neither the caller's mistake nor the end of an aborted call. */
function isFault(error: unknown): boolean {
  if (error instanceof MemoryError) return error.code === "internal";
  if (error instanceof ConnectError)
    return error.code === Code.Internal && error.rawMessage === INTERNAL_MESSAGE;
  return (error as Error | undefined)?.name !== "AbortError";
}

/** The call's credential: an API key if it has one, even a wrong one; else the session. */
function credentialOf({ headers, request, credential }: Call): Credential | undefined {
  const { authorization, "x-api-key": apiKey } = credential === "session" ? {} : headers;
  if (authorization !== undefined) {
    const key = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    return key === undefined ? undefined : { key };
  }
  if (apiKey !== undefined) return { key: String(apiKey) };
  const { portalSession: session } = request;
  return credential === "key" || session === undefined ? undefined : { session };
}

/** RPCs whose success is not recorded: reading the record would fill it, and a closed account has none. */
const NOT_RECORDED = [AccountService.method.listRecentCalls, AccountService.method.closeAccount].map(nameOf);
/** RPC whose namespace is not recorded after a success: its name was erased. */
const DELETE_NAMESPACE = nameOf(MemoryService.method.deleteNamespace);
const MESSAGE_CHARS_MAX = 300;

/**
 * Records a call that has ended for its account. Not recorded are calls without a living key, and those that
 * a browser makes in its session: they are the portal's.
 */
function recordCall(
  recorder: Pick<CallRecorder, "note">,
  { id: requestId, method, protocol, principal: caller, message, error }: Call,
  { code, ms }: { readonly code: string; readonly ms: number },
): void {
  if (caller === undefined || caller.sessionHash !== undefined || code === "unauthenticated") return;
  if (code === "ok" && NOT_RECORDED.includes(method)) return;
  const namespace = code === "ok" && method === DELETE_NAMESPACE ? undefined : namespaceIn(message);
  const recordedMessage = code === "ok" ? undefined : messageOf(error, code);
  const { accountId, keyId } = caller;
  recorder.note(caller, {
    accountId,
    keyId,
    method,
    protocol,
    code,
    ms,
    requestId,
    atMs: Date.now() - ms,
    ...(namespace !== undefined && { namespace }),
    ...(recordedMessage !== undefined && { message: recordedMessage }),
  });
}

/** The namespace that a request names; undefined if it names none or the name is not valid. */
function namespaceIn(message: Call["message"]): string | undefined {
  const { namespace = "" } = (message ?? {}) as { namespace?: string };
  try {
    return parseNamespace(namespace);
  } catch {
    return undefined;
  }
}

/** An error's message without anything of the request's content; undefined if that cannot be ruled out. */
function messageOf(error: unknown, code: string): string | undefined {
  if (code === "internal") return INTERNAL_MESSAGE;
  if (error instanceof ConnectError && OWN_CODES.includes(error.code)) return error.rawMessage;
  if (!(error instanceof MemoryError)) return undefined;
  const { field = "", recorded } = error;
  const known = contractPart(field);
  if (known === field) return recorded.slice(0, MESSAGE_CHARS_MAX);
  if (!recorded.startsWith(field)) return undefined;
  return (known + recorded.slice(field.length)).slice(0, MESSAGE_CHARS_MAX);
}

/** Codes whose messages are the service's own: the deadline has passed, or the service shuts down. */
const OWN_CODES = [Code.DeadlineExceeded, Code.Unavailable];

/** Names that a path in an error may have, beside those of the contract's fields. */
const CONTRACT_NAMES = new Set(["body", "path", "query", "Idempotency-Key"]);
for (const { methods } of [MemoryService, AccountService]) for (const { input } of methods) addFields(input);

function addFields({ fields }: DescMessage): void {
  for (const { name, message } of fields) {
    CONTRACT_NAMES.add(name);
    if (message?.file.proto.package === "recalld.v1") addFields(message);
  }
}

/** Shortens a field's path to the names of the contract: what follows are the caller's own words. */
function contractPart(path: string): string {
  const names = path.split(".");
  const end = names.findIndex((name) => !CONTRACT_NAMES.has(name.replace(/\[\d+\]$/, "")));
  return path === "" || end === -1 ? path : [...names.slice(0, end), "…"].join(".");
}
