import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { parseTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import type { Principal } from "../accounts/authenticate.js";
import { Share } from "../concurrency/share.js";
import { type CallStep, type CallWatcher, NO_TIMINGS, type StepTimer } from "../memory/ports/step-timer.js";
import { networkOf } from "./listen/client-address.js";

export type Protocol = "connect" | "grpc" | "grpc-web" | "json" | "mcp";

/** Maximum duration of a call, whatever its client allows it. */
export const CALL_TIMEOUT_MS = 30_000;

/** Bytes of a request or an answer up to which it counts as small; small ones have a share of their own. */
export const SMALL_BYTES_MAX = 16_384;
/** Bytes of all small requests and answers that are in memory. */
export const SMALL_MEMORY_BYTES_MAX = 16_777_216;
/** Bytes of all other requests and answers that are in memory. */
export const MEMORY_BYTES_MAX = 201_326_592;

/** Memory of the requests and answers of all calls. */
export class CallMemory {
  readonly #refusal = { what: "bytes of requests and answers in memory", reason: "BODIES_LIMITED" } as const;
  readonly small = new Share({ total: SMALL_MEMORY_BYTES_MAX, ...this.#refusal });
  readonly large = new Share({ total: MEMORY_BYTES_MAX, ...this.#refusal });
  /** Announced sizes of the bodies that each owner is sending: a limit for that owner, not for others. */
  readonly begun = new Share({ total: Number.POSITIVE_INFINITY, ...this.#refusal });

  shareFor(bytes: number): Share {
    return bytes <= SMALL_BYTES_MAX ? this.small : this.large;
  }
}

/** Options of a new call. By default it is no stream, it is logged and recorded, and it accepts only an API key. */
export type CallOptions = Pick<Call, "method" | "protocol" | "request" | "setHeader"> &
  Partial<Pick<Call, "streams" | "isReported" | "credential">>;

/** One call from its first byte to its last, whatever its protocol. */
export class Call {
  /** RPC as `service/method` of the contract, or a path such as `POST /session`. */
  readonly method: string;
  readonly protocol: Protocol;
  /** True if the answer is a stream, which may run for long. */
  readonly streams: boolean;
  /** False if it is neither logged nor recorded: a health check, or a message of MCP, in whose place its RPCs are. */
  isReported: boolean;
  /** Credential that identifies the caller: an API key, a session of the portal, or either. */
  readonly credential: "key" | "session" | "either";
  readonly setHeader: (name: string, value: string) => void;
  readonly request: IncomingMessage;
  readonly startMs = performance.now();
  /** Time at which it is aborted, by `performance.now()`. */
  readonly deadlineMs: number;
  /** Time that the client allows. */
  readonly timeoutMs: number;
  /** The error for a malformed timeout header; undefined if the header is valid or absent. */
  readonly timeoutError: ConnectError | undefined;
  /** The holder of its key; undefined before authentication, and for calls that need no key. */
  principal: Principal | undefined;
  message: Message | undefined;
  /** The error that it ended with; undefined if it succeeded. */
  error: unknown;
  /** Bytes that it has written and that cost no call of its key's plan. */
  writtenBytes = 0;
  /** Header that gave the position of a watch, which errors name then; undefined if a field gave it. */
  positionName: string | undefined;
  /** Reason for which it was aborted; undefined if it was not. */
  abortReason: ConnectError | undefined;
  /** Measures and traces an RPC. */
  watcher: CallWatcher | undefined;
  #bytes = 0;
  #begunBytes = 0;
  #owner: string | undefined;
  #isReleased = false;
  #controller: AbortController | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #onRelease: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    options: CallOptions,
    private readonly memory: CallMemory,
  ) {
    this.method = options.method;
    this.protocol = options.protocol;
    this.request = options.request;
    this.streams = options.streams ?? false;
    this.isReported = options.isReported ?? true;
    this.credential = options.credential ?? "key";
    this.setHeader = options.setHeader;
    const { timeoutMs = Number.POSITIVE_INFINITY, error } = parseTimeoutHeader(this.headers);
    this.timeoutMs = timeoutMs;
    this.timeoutError = error;
    const maxMs = this.streams ? Number.POSITIVE_INFINITY : CALL_TIMEOUT_MS;
    this.deadlineMs = this.startMs + Math.min(maxMs, timeoutMs);
    // A timer would wait at least 1 ms, in which a call may succeed.
    if (timeoutMs === 0) this.timeOut();
    // The default timeout needs no timer for each call: `Calls` checks all of them at an interval.
    else if (timeoutMs < maxMs && timeoutMs <= TIMER_MS_MAX)
      this.#timer = setTimeout(() => this.timeOut(), timeoutMs);
  }

  /** True for an RPC of the contract, under whichever path. */
  get isRpc(): boolean {
    return this.method.startsWith("recalld.v1.");
  }

  /** Value of `X-Request-Id`, which the answer and the log line have as well. */
  get id(): string {
    return String(this.headers["x-request-id"] ?? "");
  }

  get timer(): StepTimer<CallStep> {
    return this.watcher?.timer ?? NO_TIMINGS;
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /** Network of the client's address, by which strangers are told apart. */
  get network(): string {
    return networkOf(this.request.clientAddress ?? "");
  }

  /** The holder of the key of a call that needs one. */
  get caller(): Principal {
    if (this.principal === undefined) throw new Error("a call is served without authentication");
    return this.principal;
  }

  /** Owner of what the call takes of each `Share`: its account, or the network of its address if there is none. */
  get owner(): string {
    return this.principal === undefined ? `address ${this.network}` : `account ${this.principal.accountId}`;
  }

  /** Aborted when nobody waits for the answer any more, to end the call's work. */
  get controller(): AbortController {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.abortReason !== undefined) this.#controller.abort(this.abortReason);
    }
    return this.#controller;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Ends the call early: its client has gone, its time is over, or the server stops. */
  abort(reason: ConnectError): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    this.#controller?.abort(reason);
    this.#reject?.(reason);
  }

  /**
   * Resolves with the outcome of work, or rejects as soon as the call is aborted. The work then runs on, and its
   * outcome is dropped; `onLate` is called with what it throws.
   */
  run<T>(work: () => Promise<T>, onErrorAfterAbort: (error: unknown) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.abortReason !== undefined) return reject(this.abortReason);
      this.#reject = reject;
      work().then(resolve, (error) => {
        if (this.abortReason === undefined) reject(error);
        else onErrorAfterAbort(error);
      });
    });
  }

  /**
   * Counts bytes of the request or the answer that the call holds, until `release`.
   *
   * @throws MemoryError `resource_exhausted` or `unavailable` (BODIES_LIMITED) if its owner or all callers
   * together hold too many.
   */
  hold(bytes: number): void {
    this.#move(this.#bytes + bytes, (share, owner, more) => share.take(owner, more));
  }

  /** Multiplies the bytes that the call holds. @throws as `hold` does. */
  multiplyHeld(times: number): void {
    this.hold(this.#bytes * (times - 1));
  }

  /**
   * Refuses a large body while its owner is sending as many as may be held, so that those can be finished.
   *
   * @throws MemoryError `resource_exhausted` or `unavailable` (BODIES_LIMITED).
   */
  beginBody(bytes: number): void {
    if (this.#isReleased) return;
    this.#owner ??= this.owner;
    this.memory.begun.take(this.#owner, bytes, MEMORY_BYTES_MAX / 3);
    this.#begunBytes += bytes;
  }

  /** Corrects the bytes that the call holds once they are known. It refuses nothing: they are in memory already. */
  adjust(bytes: number): void {
    this.#move(Math.max(0, this.#bytes + bytes), (share, owner, more) => share.add(owner, more));
  }

  #move(bytes: number, take: (share: Share, owner: string, bytes: number) => void): void {
    if (this.#isReleased) return;
    this.#owner ??= this.owner;
    const [before, after] = [this.memory.shareFor(this.#bytes), this.memory.shareFor(bytes)];
    if (before !== after) {
      take(after, this.#owner, bytes);
      before.give(this.#owner, this.#bytes);
    } else if (bytes > this.#bytes) {
      take(after, this.#owner, bytes - this.#bytes);
    } else {
      after.give(this.#owner, this.#bytes - bytes);
    }
    this.#bytes = bytes;
  }

  /** Sets a function to call when the answer was taken or the client has gone. */
  onRelease(run: () => void): void {
    if (this.#isReleased) run();
    else this.#onRelease = run;
  }

  /** Aborts the call because its time is over. */
  timeOut(): void {
    const ms = Math.round(this.deadlineMs - this.startMs);
    this.abort(new ConnectError(`the call took longer than ${ms} ms`, Code.DeadlineExceeded));
  }

  /** Stops the timer of the client's timeout. */
  clearTimer(): void {
    clearTimeout(this.#timer);
  }

  /** Gives back the bytes that the call holds; it may hold others afterwards. */
  releaseBytes(): void {
    this.adjust(-this.#bytes);
    if (this.#owner !== undefined) this.memory.begun.give(this.#owner, this.#begunBytes);
    this.#begunBytes = 0;
  }

  /** Gives back all, for good: the answer was taken, or the client has gone. */
  release(): void {
    if (this.#isReleased) return;
    this.releaseBytes();
    this.#isReleased = true;
    this.#onRelease?.();
  }
}

/** Longest time that a timer of Node's can have, about 24.8 days; beyond it, a timer fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** Time that the client allows, by Connect's or gRPC's header. */
function parseTimeoutHeader(headers: IncomingHttpHeaders): ReturnType<typeof parseTimeout> {
  const { "connect-timeout-ms": connect, "grpc-timeout": grpc = null } = headers;
  const max = Number.POSITIVE_INFINITY;
  return connect === undefined ? parseGrpcTimeout(grpc as string, max) : parseTimeout(connect as string, max);
}
