import { type Clock, systemClock } from "./clock.js";
import { RecalldError } from "./errors.js";

/** The part of the platform's `fetch` that the client needs. */
export type Fetch = (url: string, request: RequestInit) => Promise<Response>;

export interface RecalldOptions {
  /** The API key, `rcl_…`. */
  readonly apiKey: string;
  /** Address of the server, such as `https://memory.example`; it may have a path. */
  readonly baseUrl: string;
  /** Time that one attempt may take, in milliseconds; 35,000 when left out. The server takes 30 seconds at most. */
  readonly timeoutMs?: number | undefined;
  /** Further attempts where another may succeed: 0 to 10, 2 when left out. */
  readonly retries?: number | undefined;
  /** `fetch` to call in place of the platform's. */
  readonly fetch?: Fetch | undefined;
  /** Clock for pauses and timeouts in place of the platform's. */
  readonly clock?: Clock | undefined;
  /** Further headers, such as `Recalld-Namespace` for balancers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of one call: its own, and those that win over the client's. */
export interface CallOptions extends Partial<RecalldOptions> {
  /** Ends the call: it is rejected with the code `canceled`. */
  readonly signal?: AbortSignal | undefined;
  /** Key under which a write is done once, however often it is sent; the client makes one if it is left out. */
  readonly idempotencyKey?: string | undefined;
  /** Id of the call in the server's log; the client makes one if it is left out. */
  readonly requestId?: string | undefined;
}

/** Options of one call, complete and checked. */
export interface Settings {
  /** The key; undefined only for a sign-up. */
  readonly apiKey?: string | undefined;
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  readonly idempotencyKey: string;
  readonly requestId: string;
}

/** Options that a call may have: a misspelt one would be as if it were left out. */
const NAMES = {
  apiKey: true,
  baseUrl: true,
  timeoutMs: true,
  retries: true,
  fetch: true,
  clock: true,
  headers: true,
  signal: true,
  idempotencyKey: true,
  requestId: true,
} satisfies Record<keyof CallOptions, true>;

const TIMEOUT_MS = 35_000;
/** The longest that timers take. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1;
const RETRIES = 2;
const RETRIES_MAX = 10;

/** Joins the client's options with those of one call. */
export function settle(options: RecalldOptions, call: CallOptions = {}): Settings {
  return { apiKey: keyOf(call.apiKey ?? options.apiKey), ...settleWithoutKey(options, call) };
}

/** Does the same for a call that needs no key. */
export function settleWithoutKey(options: Omit<RecalldOptions, "apiKey">, call: CallOptions = {}): Settings {
  for (const name of Object.keys(call)) {
    if (!Object.hasOwn(NAMES, name))
      throw invalid(name, `${name} is no option; there are ${Object.keys(NAMES).join(", ")}`);
  }
  const timeoutMs = call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS;
  const retries = call.retries ?? options.retries ?? RETRIES;
  // Not `{ fetch }` of an object: browsers want their own one called by itself.
  const platform: Fetch = (url, request) => fetch(url, request);
  return {
    baseUrl: addressOf(call.baseUrl ?? options.baseUrl),
    timeoutMs: within("timeoutMs", timeoutMs, { min: 1, max: TIMEOUT_MS_MAX }),
    retries: within("retries", retries, { min: 0, max: RETRIES_MAX }),
    fetch: call.fetch ?? options.fetch ?? platform,
    clock: call.clock ?? options.clock ?? systemClock,
    headers: sendable("headers", { ...options.headers, ...call.headers }),
    signal: call.signal,
    idempotencyKey: sendable("idempotencyKey", { key: call.idempotencyKey ?? randomHex() }).key,
    requestId: sendable("requestId", { id: call.requestId ?? randomHex() }).id,
  };
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** White space around a value does not count, but other than that of headers cannot be sent. */
const PADDED_VALUE = /^[\t\n\r\x20-\x7e\x80-\xff]*$/;

/** Refuses what `fetch` cannot send as headers: that would look like a server that cannot be reached. */
function sendable<H extends Readonly<Record<string, string>>>(option: string, headers: H): H {
  const isFit = Object.entries(headers).every(
    ([name, value]) =>
      HEADER_NAME.test(name) && PADDED_VALUE.test(String(value)) && HEADER_VALUE.test(String(value).trim()),
  );
  if (isFit) return headers;
  throw invalid(option, `${option} has a character that no header can have`);
}

function keyOf(apiKey: unknown): string {
  if (typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw invalid("apiKey", "apiKey must be the key that sign-up gave: a string without spaces");
}

function addressOf(baseUrl: unknown): string {
  const address = typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isPlain = address?.search === "" && address.hash === "" && address.username === "";
  if (address === undefined || !/^https?:$/.test(address.protocol) || !isPlain) {
    throw invalid("baseUrl", "baseUrl must be the server's address, such as https://memory.example");
  }
  return address.href.replace(/\/+$/, "");
}

function within(field: string, value: unknown, { min, max }: { min: number; max: number }): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(field, `${field} is ${String(value)}; it must be a whole number from ${min} to ${max}`);
}

export function invalid(field: string, message: string): RecalldError {
  return new RecalldError("invalid_argument", message, { field });
}

/** Makes 128 random bits. Unlike `randomUUID`, these can also be had on pages that came without TLS. */
function randomHex(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
