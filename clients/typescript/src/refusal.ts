import { ERROR_CODES, type ErrorCode } from "./contract.js";
import { RecalldError } from "./errors.js";
import { fieldPath } from "./json.js";

/** Codes for answers that are not recalld's own, such as a proxy's: those of the Connect protocol. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: "internal",
  401: "unauthenticated",
  403: "permission_denied",
  404: "unimplemented",
  408: "deadline_exceeded",
  429: "unavailable",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};
/** Characters of a foreign answer that the message quotes. */
const QUOTED_MAX = 200;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** A key, which an answer that repeats the request may hold. */
const KEY = /\brcl_\w+/g;

export interface Refusal {
  readonly code: ErrorCode;
  readonly message?: string;
  /** Details of this form, unless another program than recalld answers. */
  readonly details?: unknown;
}

interface Detail {
  readonly debug?: {
    readonly reason?: string;
    readonly metadata?: Readonly<Record<string, string>>;
    readonly field_violations?: readonly { readonly field?: string }[];
    readonly fieldViolations?: readonly { readonly field?: string }[];
    readonly retry_delay?: string;
    readonly retryDelay?: string;
  };
}

/** Reads the error that an answer tells; `url` is where it was asked for. */
export async function refusalOf(response: Response, url: string, requestId: string): Promise<RecalldError> {
  const text = await response.text();
  const { status, headers, type } = response;
  const facts = { status, requestId: headers.get("x-request-id") ?? requestId };
  // Browsers do not say where a redirect leads.
  if (REDIRECTS.includes(status) || type === "opaqueredirect") {
    return new RecalldError("unknown", redirected(url, headers.get("location")), facts);
  }
  const refusal = parsed(text);
  const after = retryAfterMs(headers.get("retry-after"));
  // A gateway without a server behind it may have a code of its own, such as ServiceUnavailable.
  const isAway = BY_STATUS[status] === "unavailable" && !ERROR_CODES.some((code) => code === refusal?.code);
  if (refusal !== undefined && !isAway) return errorOf(refusal, { ...facts, ...after });
  const message = `the answer is HTTP ${status}, and not recalld's: ${text.slice(0, QUOTED_MAX).replace(KEY, "rcl_…")}`;
  return new RecalldError(BY_STATUS[status] ?? "unknown", message, { ...facts, ...after });
}

/** Makes the error of a refusal, wherever it stood. */
export function errorOf(
  { code, message = code, details }: Refusal,
  facts: { status?: number; requestId?: string; retryAfterMs?: number },
): RecalldError {
  const found = (Array.isArray(details) ? details : []).map((each: Detail | null) => each?.debug ?? {});
  const first = <T>(read: (debug: NonNullable<Detail["debug"]>) => T | undefined) =>
    found.map(read).find((value) => value !== undefined);
  const field = first((debug) => (debug.field_violations ?? debug.fieldViolations)?.[0]?.field);
  const delay = Number.parseFloat(first((debug) => debug.retry_delay ?? debug.retryDelay) ?? "");
  return new RecalldError(code, message, {
    reason: first(({ reason }) => reason),
    metadata: first(({ metadata }) => metadata),
    field: typeof field === "string" ? fieldPath(field) : undefined,
    ...(delay >= 0 && { retryAfterMs: delay * 1000 }),
    ...facts,
  });
}

/** Returns where a redirect leads, without what may be secret in such an address. */
function redirected(url: string, location: string | null): string {
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const where = target === undefined ? "elsewhere" : `to ${target.origin}${target.pathname}`;
  return `${new URL(url).origin} redirects ${where}, and the client sends nothing on: set baseUrl to the server's own address`;
}

function parsed(text: string): Refusal | undefined {
  try {
    const refusal = JSON.parse(text) as Partial<Refusal> | null;
    return typeof refusal?.code === "string" ? (refusal as Refusal) : undefined;
  } catch {
    // It is not JSON, so it is not recalld that answers.
    return undefined;
  }
}

/** Reads `Retry-After`: seconds, or a date. */
export function retryAfterMs(header: string | null): { retryAfterMs?: number } {
  if (header === null) return {};
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? {} : { retryAfterMs: Math.max(0, ms) };
}
