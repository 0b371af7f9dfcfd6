import type { ErrorCode, Reason } from "./contract.js";

export interface ErrorFacts {
  /** Constant that programs can branch on. Servers may know others than this version of the client. */
  readonly reason?: Reason | (string & {}) | undefined;
  /** Field of the request that is wrong, as the caller writes it: `topK`, `memories[3].text`. */
  readonly field?: string | undefined;
  /** Values that belong to the reason, such as `id`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Time to wait before another attempt, as the server says. */
  readonly retryAfterMs?: number | undefined;
  /** Id of the call, also in the server's log. */
  readonly requestId?: string | undefined;
  /** HTTP status of the answer; undefined if there was none. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** Codes after which the same call may succeed. */
const PASSING: readonly string[] = ["unavailable", "deadline_exceeded", "resource_exhausted"];
/** Reasons for which waiting does not help. */
const LASTING: readonly string[] = ["QUOTA_EXHAUSTED", "BODY_TOO_LARGE"];

/** The one error that the client throws. */
export class RecalldError extends Error {
  override readonly name = "RecalldError";
  readonly reason: Reason | (string & {}) | undefined;
  readonly field: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  /** Attempts that were made, this one included. */
  attempts = 1;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { reason, field, metadata = {}, retryAfterMs, requestId, status, cause }: ErrorFacts = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.field = field;
    this.metadata = metadata;
    this.retryAfterMs = retryAfterMs;
    this.requestId = requestId;
    this.status = status;
  }

  /** True if the same call may succeed later. */
  get retryable(): boolean {
    return PASSING.includes(this.code) && !LASTING.includes(this.reason ?? "");
  }

  /** Fields that logs should have, which is more than an Error's JSON has. The cause and the stack are no part. */
  toJSON(): object {
    const { name, message, code, reason, field, metadata, retryAfterMs, requestId, status, attempts } = this;
    return { name, message, code, reason, field, metadata, retryAfterMs, requestId, status, attempts };
  }
}

/** Makes the error of a call that its caller has given up. */
export function canceled({ signal, requestId }: { signal: AbortSignal | undefined; requestId: string }) {
  return new RecalldError("canceled", "the caller gave up the call", { requestId, cause: signal?.reason });
}

/** Makes the error of JSON that no recalld server writes: asking again would not help. */
export function notOurs(what: string, facts: ErrorFacts = {}): RecalldError {
  return new RecalldError("unknown", `the answer is not recalld's: ${what}`, facts);
}

/** Makes an error of anything that `fetch` or a stream threw. */
export function unreachable(url: string, error: unknown, requestId?: string): RecalldError {
  if (error instanceof RecalldError) return error;
  const { origin } = new URL(url);
  return new RecalldError("unavailable", `${origin} cannot be reached: ${rootOf(error)}`, {
    requestId,
    cause: error,
  });
}

/** Returns the reason at the root: `fetch` itself only says that it failed. */
function rootOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  if (!(cause instanceof Error)) return message;
  return cause.message || String((cause as { code?: unknown }).code ?? message);
}
