/** The closed list of what can go wrong; `docs/errors.md` says what each means to a caller. */
export type ErrorCode =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "resource_exhausted"
  | "unavailable"
  | "internal";

export interface ErrorOptions {
  /** The request's field that is wrong, in the contract's snake_case. */
  field?: string;
  /** A constant that programs can branch on, such as `QUOTA_EXHAUSTED`. */
  reason?: string;
  /** How long a caller does well to wait before trying again. */
  retryAfterMs?: number;
  /** What led here; logged, never sent. */
  cause?: unknown;
}

/**
 * The one error of this program whose message may reach a caller. Whatever else is thrown is a
 * fault of ours: it is logged and answered as `internal`, without its text.
 */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  readonly field: string | undefined;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { field, reason, retryAfterMs, cause }: ErrorOptions = {},
  ) {
    super(message, { cause });
    this.field = field;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The caller's input is wrong: names the field and says what it must be. */
export function invalid(field: string, message: string): MemoryError {
  return new MemoryError("invalid_argument", `${field} ${message}`, { field });
}

/** Something this program stands on is away for now; trying again later is right. */
export function unavailable(message: string, cause?: unknown, retryAfterMs = 1000): MemoryError {
  return new MemoryError("unavailable", message, { cause, retryAfterMs });
}

const NOT_WRITABLE = "STORAGE_NOT_WRITABLE";

/** The database answers and refuses to write, which trying again at once does not change. */
export function notWritable(cause?: unknown): MemoryError {
  const message = "the database could not write; its disk may be full";
  return new MemoryError("unavailable", message, { reason: NOT_WRITABLE, retryAfterMs: 1000, cause });
}

export function isNotWritable(error: unknown): boolean {
  return error instanceof MemoryError && error.reason === NOT_WRITABLE;
}
