import { Code, ConnectError, type HandlerContext, type Interceptor } from "@connectrpc/connect";

/** What a call may take at most, whatever its client allows it. */
export const CALL_TIMEOUT_MS = 30_000;

/** When a call that begins now must be over, in milliseconds of the process's monotonic clock. */
export function deadlineOf(context: Pick<HandlerContext, "timeoutMs">): number {
  return performance.now() + Math.min(CALL_TIMEOUT_MS, context.timeoutMs() ?? CALL_TIMEOUT_MS);
}

/**
 * Ends unary calls after `maxMs` with `deadline_exceeded`, however much longer the client allowed;
 * a shorter time of the client's own holds as well. The caller is answered even when the handler
 * ignores its signal: the handler then runs on, and its outcome is dropped.
 */
export function deadline(maxMs: number): Interceptor {
  return (next) => async (request) => {
    if (request.stream) return next(request);
    const limit = openLimit(request.signal, maxMs);
    try {
      return await untilAborted(limit.signal, () => next({ ...request, signal: limit.signal }));
    } finally {
      limit.close();
    }
  };
}

/**
 * A signal that aborts with its parent or after `maxMs`. Made by hand, because what
 * `AbortSignal.any` and `AbortSignal.timeout` make stays in memory for the whole time, long after
 * the call, when a handler leaves a listener on it.
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

/** The outcome of the work, or the signal's reason as soon as it aborts. */
function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(ConnectError.from(signal.reason, Code.Canceled));
    if (signal.aborted) return onAbort();
    // Before the work listens itself: its own words about the abort must come second.
    signal.addEventListener("abort", onAbort);
    work().then(resolve, reject);
  });
}
