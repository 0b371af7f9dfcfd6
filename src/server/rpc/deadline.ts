import type { IncomingHttpHeaders } from "node:http";
import { Code, ConnectError, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { MemoryError } from "../../errors.js";

/** Maximum duration of a call, whatever its client allows it. */
export const CALL_TIMEOUT_MS = 30_000;

/** Computes when a call that begins now must be over, in milliseconds of the process's monotonic clock. */
export function deadlineOf(context: Pick<HandlerContext, "timeoutMs">): number {
  return performance.now() + Math.min(CALL_TIMEOUT_MS, context.timeoutMs() ?? CALL_TIMEOUT_MS);
}

/** Longest time that a timer of Node's can have, about 24.8 days; beyond it, a timer fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const UNITS_MS: Record<string, number> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };

/**
 * Ends unary calls after `maxMs` with `deadline_exceeded`, however much longer the client allowed. A shorter
 * time of the client's own holds as well. The caller is answered even when the handler ignores its signal:
 * the handler then runs on, and its outcome is dropped. `onFault` is called with a fault that no caller is
 * told of any more.
 */
export function deadline(
  maxMs: number,
  onFault: (error: unknown, requestId: string | null) => void = () => {},
): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const limit = openLimit(request.signal, maxMs);
    try {
      const work = () => next({ ...request, signal: limit.signal });
      const onLate = (error: unknown) => {
        if (isFault(error)) onFault(error, request.header.get("x-request-id"));
      };
      return await untilAborted(limit.signal, work, onLate);
    } finally {
      limit.close();
    }
  };
}

/** Shortens a client's timeout to what a timer can wait: a longer one would end the call at once. */
export function capTimeouts(headers: IncomingHttpHeaders): void {
  if (Number(headers["connect-timeout-ms"]) > TIMER_MS_MAX) headers["connect-timeout-ms"] = `${TIMER_MS_MAX}`;
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(headers["grpc-timeout"])) ?? [];
  if (Number(amount) * (UNITS_MS[unit] ?? 0) > TIMER_MS_MAX) {
    headers["grpc-timeout"] = `${Math.floor(TIMER_MS_MAX / 1_000)}S`;
  }
}

/** Tells whether an error is a fault of the server, not a caller's mistake or word of an aborted call. */
function isFault(error: unknown): boolean {
  if (error instanceof MemoryError) return error.code === "internal";
  return !(error instanceof ConnectError) && (error as Error | undefined)?.name !== "AbortError";
}

/**
 * Makes a signal that aborts with its parent or after `maxMs`. `AbortSignal.any` and `AbortSignal.timeout`
 * are not used: when a handler leaves a listener on them, they stay in memory for the whole time, long after
 * the call.
 */
function openLimit(parent: AbortSignal, maxMs: number): { signal: AbortSignal; close(): void } {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  const expire = () =>
    controller.abort(new ConnectError(`the call took longer than ${maxMs} ms`, Code.DeadlineExceeded));
  const timer = setTimeout(expire, maxMs);
  const close = () => {
    clearTimeout(timer);
    parent.removeEventListener("abort", follow);
  };
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow);
  return { signal: controller.signal, close };
}

/** Resolves with the outcome of the work, or rejects with the signal's reason as soon as it aborts. */
function untilAborted<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  onLate: (error: unknown) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(ConnectError.from(signal.reason, Code.Canceled));
    if (signal.aborted) return onAbort();
    // Listens before the work does: its own error about the abort must come second.
    signal.addEventListener("abort", onAbort);
    work().then(resolve, (error) => {
      if (signal.aborted) onLate(error);
      reject(error);
    });
  });
}
