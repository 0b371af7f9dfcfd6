/** Closed list of what can go wrong; `docs/errors.md` says what each means to a caller. */
export type ErrorCode =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "not_found"
  | "already_exists"
  | "failed_precondition"
  | "aborted"
  | "resource_exhausted"
  | "unavailable"
  | "internal";

/**
 * Closed list of reasons, each with a sentence that says when it is given. Programs branch on the names;
 * `docs/errors.md` lists each with its sentence and what a caller can do.
 */
export const REASONS = {
  QUOTA_EXHAUSTED: "All calls of the account's plan are used.",
  BODY_TOO_LARGE: "The body is over 1,048,576 bytes (StoreBatch: 8,388,608), as sent or after decompressing.",
  RATE_LIMITED:
    "Too many sign-ups, unknown keys or requests without a key come from this address, or too many sign-ups in all.",
  KEY_RATE_LIMITED:
    "The key, or all keys of its account together, make more calls a second than the plan allows.",
  CONCURRENCY_LIMITED: "The key, its account or the server has as many running calls as it may.",
  BODIES_LIMITED:
    "Requests and answers in memory, the caller's or everyone's, fill what is reserved for them.",
  PLAN_UNKNOWN: "The operator removed the account's plan and must assign another.",
  KEY_READ_ONLY: "The key may only read.",
  KEY_OTHER_NAMESPACE: "The key is for another namespace, or the call is about the account.",
  KEY_OF_CLIENT: "An application got the key by OAuth, and the call is about the account.",
  NAMESPACE_NOT_EMPTY: "The namespace holds memories, and `force` is not set.",
  LAST_KEY: "It is the account's last key, and `force` is not set.",
  KEYS_LIMIT: "The account has 50 keys.",
  SECRET_FOUND:
    "The text or the metadata has what looks like a secret, and `on_secret` is REFUSE; `metadata.secrets` tells kinds and places.",
  EXTERNAL_ID_TAKEN: "Another memory of the namespace has the `external_id`; `metadata.id` names it.",
  MEMORY_SUPERSEDED:
    "The memory was superseded by another one, `metadata.superseded_by`, and cannot be changed any more.",
  ETAG_MISMATCH: "The memory was changed since its etag was read; `metadata.etag` is the current one.",
  IDEMPOTENCY_KEY_REUSED: "The `Idempotency-Key` was used for another request within 24 hours.",
  IDEMPOTENT_MEMORY_DELETED: "The memory that this `Idempotency-Key` stored was deleted.",
  STORAGE_NOT_WRITABLE: "The database cannot write; its disk may be full.",
  MODEL_BUSY: "The model has too much work to finish before the call's deadline.",
  STREAMS_LIMITED: "The account or the server has as many open watches or exports as it may.",
  POSITION_GONE: "The position is of another namespace, or of one that was dropped since.",
  INDEX_TOO_LARGE:
    "The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`: delete memories, or ask the operator to raise it.",
  ABANDONED_WORK: "The account broke off too many calls while the model read their texts.",
} as const;

export type Reason = keyof typeof REASONS;

interface ErrorOptions {
  /** Field of the request that is wrong, in the contract's snake_case. */
  field?: string | undefined;
  /** Constant that programs can branch on. */
  reason?: Reason | undefined;
  /** The message without what it repeats of the request, `field` aside: records of calls keep this one. */
  recorded?: string | undefined;
  /** Values that belong to the reason, such as an id. */
  metadata?: Readonly<Record<string, string>>;
  /** Time that a caller should wait before it tries again. */
  retryAfterMs?: number | undefined;
  /** Cause; logged, never sent. */
  cause?: unknown;
}

/**
 * Error whose message may reach a caller; the only one. Everything else that is thrown is a fault of the
 * server: it is logged and answered as `internal`, without its text.
 */
export class MemoryError extends Error {
  override readonly name: string = "MemoryError";
  readonly field: string | undefined;
  readonly reason: Reason | undefined;
  readonly recorded: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { field, reason, recorded = message, metadata = {}, retryAfterMs, cause }: ErrorOptions = {},
  ) {
    const { stackTraceLimit } = Error;
    // An answer's stack tells nobody anything, and takes a tenth of the time of a call that is refused.
    if (code !== "internal") Error.stackTraceLimit = 0;
    super(message, { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.field = field;
    this.reason = reason;
    this.recorded = recorded;
    this.metadata = metadata;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Creates the error for a caller's wrong input: names the field and says what it must be. A message that
 * repeats anything of the request, but for numbers and the field, comes with one to record that does not.
 */
export function invalid(field: string, message: string, recorded = message): MemoryError {
  const options = { field, recorded: `${field} ${recorded}` };
  return new MemoryError("invalid_argument", `${field} ${message}`, options);
}

/** Characters of a path that an error may repeat. */
const PATH_MAX = 256;

/** Masks keys in what an error repeats of a request. */
export function withoutKeys(text: string): string {
  return text.replace(/rcl_\w*/g, "rcl_…");
}

/** Shortens a key or a path to what an error may repeat: printable, and without secrets. */
export function safeName(name: string): string {
  // Cut first: a name may have a megabyte, each character of which would be replaced.
  const some = withoutKeys(name.slice(0, 1_024)).replace(/[^\p{L}\p{N}_.$…-]/gu, "?");
  return some.slice(0, 64) || "?";
}

/** Shows where a value is, such as `metadata.a[1]`, by the keys and indexes that lead to it. */
export function formatPath(path: readonly (string | number)[]): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${safeName(step)}`));
  return steps.join("").replace(/^\./, "").slice(0, PATH_MAX);
}

/** Expects a whole number within limits. @throws MemoryError `invalid_argument` */
export function parseWhole(field: string, value: unknown, [min, max]: readonly [number, number]): number {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return Number(value);
  throw invalid(field, `is ${value}; it must be a whole number from ${min} to ${max}`);
}

/** Expects at most so many items of a list. @throws MemoryError `invalid_argument` */
export function expectAtMost(max: number, field: string, items: readonly unknown[], what: string): void {
  if (items.length > max) throw invalid(field, `has ${items.length} ${what}; the limit is ${max}`);
}

/** Creates the error for what cannot be done as things stand. */
export function failedPrecondition(message: string, options?: ErrorOptions): MemoryError {
  return new MemoryError("failed_precondition", message, options);
}

/** Creates the error for something that is away for now; trying again later is right. */
export function unavailable(message: string, cause?: unknown, retryAfterMs = 1000): MemoryError {
  return new MemoryError("unavailable", message, { cause, retryAfterMs });
}

export function isUnavailable(error: unknown): error is MemoryError {
  return error instanceof MemoryError && error.code === "unavailable";
}

/** Creates the error for a database that refuses to write, which trying again at once does not change. */
export function notWritable(cause?: unknown): MemoryError {
  const message = "the database could not write; its disk may be full";
  return new MemoryError("unavailable", message, {
    reason: "STORAGE_NOT_WRITABLE",
    retryAfterMs: 1000,
    cause,
  });
}

export function isNotWritable(error: unknown): boolean {
  return error instanceof MemoryError && error.reason === "STORAGE_NOT_WRITABLE";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Formats a number for people: 65,536. */
export function count(n: number): string {
  return n.toLocaleString("en-US");
}

/** Formats a number of things for people: `1 memory`, `2,000 memories`. */
export function counted(n: number, one: string, several = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : several}`;
}

/** Formats a number of memories for people. */
export const memoriesOf = (n: number): string => counted(n, "memory", "memories");

/** Runs work on one part of a request; its errors name their field behind the part's path. */
export function ofItem<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw errorOfItem(path, error);
  }
}

/** Makes an error name its field behind the path of a part of the request. */
export function errorOfItem(path: string, error: unknown): unknown {
  if (!(error instanceof MemoryError) || error.field === undefined) return error;
  const { code, field: inner, metadata, reason, retryAfterMs, cause } = error;
  const field = `${path}.${inner}`;
  const [message, recorded] = [error.message, error.recorded].map((text) =>
    text.startsWith(inner) ? field + text.slice(inner.length) : text,
  ) as [string, string];
  return new MemoryError(code, message, { field, recorded, metadata, cause, reason, retryAfterMs });
}
