import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { VERSION } from "../version.js";
import { CallError } from "./failure.js";

/** Time that one attempt may take: a long text is embedded in seconds. */
const ATTEMPT_TIMEOUT_MS = 60_000;
/** Pauses before further attempts, unless the server names another. */
const PAUSES_MS = [500, 2_000];
const PAUSE_MS_MAX = 30_000;
/** Statuses after which another attempt may succeed; 429 is one only where the server says when. */
const PASSING = new Set([502, 503, 504]);

/** The server that is called, and the key for it. */
export interface Server {
  readonly url: string;
  readonly key: string | undefined;
}

export type Json = Readonly<Record<string, unknown>>;

/**
 * Calls one method of the service, with two more attempts where another may succeed. Every call has an
 * idempotency key, so a store whose answer was lost is not done twice.
 *
 * @throws CallError with the server's own code and words; `unavailable` if it cannot be reached.
 */
export async function call(server: Server, method: string, body: Json): Promise<Json> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
    "user-agent": `recalld-cli/${VERSION}`,
  };
  if (server.key !== undefined) headers.authorization = `Bearer ${server.key}`;
  // A redirect would take the key, and what is stored, to where nobody named.
  const request: RequestInit = { method: "POST", headers, body: JSON.stringify(body), redirect: "manual" };
  const url = `${server.url}/recalld.v1.${method.replace(".", "/")}`;
  for (let attempt = 0; ; attempt++) {
    const { answer, error, pauseMs } = await tryOnce(url, request);
    if (answer !== undefined) return answer;
    const pause = PAUSES_MS[attempt];
    if (pauseMs === undefined || pause === undefined) throw error;
    await sleep(Math.min(PAUSE_MS_MAX, Math.max(pause, pauseMs)));
  }
}

interface Tried {
  readonly answer?: Json;
  readonly error?: CallError;
  /** Least pause before another attempt, which may succeed. */
  readonly pauseMs?: number;
}

async function tryOnce(url: string, request: RequestInit): Promise<Tried> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) });
    const to = response.headers.get("location");
    if (to !== null && !response.ok) {
      return {
        error: new CallError("failed_precondition", `the server sends on to ${to}: set --url to that`),
      };
    }
    const answer = jsonIn(await response.text(), response);
    if (response.ok) return { answer };
    return { error: errorIn(answer, response), ...pauseAfter(response) };
  } catch (error) {
    if (error instanceof CallError) return { error };
    const { origin } = new URL(url);
    return {
      error: new CallError("unavailable", `${origin} cannot be reached: ${reasonOf(error)}`),
      pauseMs: 0,
    };
  }
}

/** Parses an answer. A proxy answers in its own words, as an error of its status. */
function jsonIn(text: string, response: Response): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (response.ok) throw new CallError("unknown", "the answer is not JSON, so it is not recalld's");
    return {
      code: response.status >= 500 ? "unavailable" : "unknown",
      message: `the server answers ${response.status}`,
    };
  }
}

/** Makes the error of an answer that refuses a call. */
export function errorIn(answer: Json, response: Response): CallError {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  return new CallError(
    String(answer.code ?? "unknown"),
    String(answer.message ?? response.status),
    requestId,
  );
}

function pauseAfter(response: Response): { pauseMs?: number } {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const isNamed = Number.isFinite(seconds);
  if (!PASSING.has(response.status) && !(response.status === 429 && isNamed)) return {};
  return { pauseMs: isNamed ? seconds * 1000 : 0 };
}

/** Returns the reason at the root: fetch itself only says that it failed. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
}
