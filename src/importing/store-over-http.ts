import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, MemoryError, type Reason, unavailable } from "../errors.js";
import type { Storing } from "./import-memories.js";

/** Longest time that one memory is tried, and that one call may take. */
const TRYING_MS_MAX = 300_000;
const CALL_MS_MAX = 40_000;
/** Shortest and longest pause before another attempt, when the server names none. */
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 10_000;

export interface Target {
  /** Address of a server, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly key: string;
  readonly namespace: string;
}

/** Makes a function that stores memories in a namespace of a server, by `POST /store`. */
export function storeOverHttp({
  url,
  key,
  namespace,
}: Target): (storing: Storing) => Promise<{ already: boolean }> {
  const path = new URL("store", url.endsWith("/") ? url : `${url}/`);
  return async ({ text, metadata, externalId, expireTime }) => {
    const memory = { text, metadata, external_id: externalId, on_conflict: "KEEP", expire_time: expireTime };
    const body = JSON.stringify({ namespace, ...memory });
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      // An attempt after a lost answer is told what the first one did.
      "idempotency-key": randomUUID(),
    };
    const untilMs = performance.now() + TRYING_MS_MAX;
    for (let attempt = 0; ; attempt++) {
      const answer = await once(path, { headers, body });
      if ("already" in answer) return answer;
      const { error, retryAfterMs = pauseMs(attempt) } = answer;
      if (!isPassing(error) || performance.now() + retryAfterMs > untilMs) throw error;
      await sleep(retryAfterMs);
    }
  };
}

type Answer = { readonly already: boolean } | { readonly error: MemoryError; readonly retryAfterMs?: number };

async function once(path: URL, request: { headers: Record<string, string>; body: string }): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { method: "POST", ...request, signal: AbortSignal.timeout(CALL_MS_MAX) });
    text = await response.text();
  } catch (error) {
    return { error: unavailable(`${path} cannot be reached`, error) };
  }
  if (response.status === 200) {
    const { outcome } = JSON.parse(text) as { outcome?: string };
    return { already: outcome === "KEPT" };
  }
  const after = Number(response.headers.get("retry-after") ?? Number.NaN);
  return { error: errorOf(text, response.status), ...(after >= 0 && { retryAfterMs: after * 1000 }) };
}

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: readonly { readonly debug?: { readonly reason?: Reason } }[];
}

function errorOf(text: string, status: number): MemoryError {
  try {
    const { code, message, details = [] } = JSON.parse(text) as Refusal;
    const reason = details.map(({ debug }) => debug?.reason).find((found) => found !== undefined);
    return new MemoryError(code, message, reason && { reason });
  } catch {
    // A proxy answers in its own words.
    return status >= 500
      ? unavailable(`the server answers ${status}`)
      : new MemoryError("failed_precondition", `the server answers ${status}, as recalld does not`);
  }
}

/** Tells whether trying again helps: the server is busy or away, or the key calls too often. */
function isPassing({ code, reason }: MemoryError): boolean {
  if (code === "resource_exhausted") return reason !== "QUOTA_EXHAUSTED" && reason !== "BODY_TOO_LARGE";
  return code === "unavailable" || (code as string) === "deadline_exceeded";
}

function pauseMs(attempt: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random());
}
