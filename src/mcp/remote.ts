import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { VERSION } from "../version.js";
import type { FindPlace, Place } from "./place.js";

/** Longest time of one attempt; the server ends calls after 30 seconds. */
const ATTEMPT_TIMEOUT_MS = 40_000;
/** Pauses before the attempts after the first. A server that ends is replaced by another within seconds. */
const PAUSES_MS = [50, 200, 500, 1_000, 2_000, 4_000, 8_000];
/** Longest pause that a server may ask for; a longer one is the caller's to wait. */
const PAUSE_MS_MAX = 5_000;
/** Statuses of proxies and servers that come and go. */
const PASSING = new Set([502, 503, 504]);

/** Answer to a message: its result, or what kept it from being given. */
export interface Answer {
  readonly result?: Record<string, unknown> | undefined;
  /** Number by which the protocol itself names an error, such as a tool that does not exist. */
  readonly protocolCode?: number | undefined;
  readonly code: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}

export interface RemoteOptions {
  readonly find: FindPlace;
  /** Query of the address, such as `?namespace=work`. */
  readonly query: string;
}

/** A server's `/mcp`, called for a client that speaks through this process. */
export class Remote {
  #place: Promise<Place> | undefined;

  constructor(private readonly options: RemoteOptions) {}

  /**
   * Asks the server, with further attempts where another may succeed. All of them have one idempotency key,
   * so that a store whose answer was lost is not done twice.
   */
  async ask(method: string, params: object, signal: AbortSignal): Promise<Answer> {
    const idempotencyKey = randomUUID();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    for (let attempt = 0; ; attempt++) {
      const { pauseMs, ...answer } = await this.#try(body, idempotencyKey, signal);
      const pause = PAUSES_MS[attempt];
      if (pauseMs === undefined || pause === undefined || pauseMs > PAUSE_MS_MAX) return answer;
      await sleep(Math.max(pause, pauseMs), undefined, { signal });
    }
  }

  async #try(body: string, idempotencyKey: string, signal: AbortSignal): Promise<Tried> {
    this.#place ??= this.options.find();
    const found = this.#place;
    try {
      const { url, key } = await found;
      const response = await fetch(`${url.replace(/\/$/, "")}/mcp${this.options.query}`, {
        method: "POST",
        headers: headersWith(key, idempotencyKey),
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]),
      });
      return answerIn(response, await response.text());
    } catch (error) {
      // The next attempt looks for the server anew.
      if (this.#place === found) this.#place = undefined;
      signal.throwIfAborted();
      return { code: "unavailable", message: `the server cannot be reached: ${reasonOf(error)}`, pauseMs: 0 };
    }
  }
}

interface Tried extends Answer {
  /** Least pause before another attempt, which may succeed. */
  readonly pauseMs?: number;
}

function headersWith(key: string | undefined, idempotencyKey: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    "idempotency-key": idempotencyKey,
    "user-agent": `recalld-mcp/${VERSION}`,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  };
}

function answerIn(response: Response, text: string): Tried {
  const { result, error, code, message } = objectIn(text);
  const { code: protocolCode, message: said } = (error ?? {}) as { code?: number; message?: string };
  const retryAfter = response.headers.get("retry-after");
  const pauseMs = retryAfter === null ? 0 : Number(retryAfter) * 1_000;
  const failed = (result as { isError?: boolean } | undefined)?.isError === true;
  const isPassing = PASSING.has(response.status) || (retryAfter !== null && (failed || !response.ok));
  return {
    ...(result !== undefined && { result: result as Record<string, unknown> }),
    code: typeof code === "string" ? code : "unavailable",
    message: String(message ?? said ?? `HTTP ${response.status}`),
    ...(protocolCode !== undefined && { protocolCode }),
    ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
    ...(isPassing && { pauseMs }),
  };
}

/** Parses an answer; one that is no object of JSON, such as a proxy's page, is an empty one. */
function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Returns the reason at the root: fetch itself only says that it failed. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}
