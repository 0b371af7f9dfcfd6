import { Breaker } from "./breaker.js";
import { type Methods, ONCE, PATHS, WRITES } from "./contract.js";
import { RecalldError, unreachable } from "./errors.js";
import { fromWire, toWire } from "./json.js";
import type { Settings } from "./options.js";
import { refusalOf } from "./refusal.js";
import { withRetries } from "./retries.js";

/** Fields that every answer has beside its own. */
export interface Answered {
  /** Id of the call, also in the server's log. */
  readonly requestId: string;
  /** Whether an earlier attempt with the same idempotency key had done it already. */
  readonly replayed: boolean;
}

export type Answer<T> = T & Answered;
export type Input<M extends keyof Methods> = Methods[M]["input"];
export type Output<M extends keyof Methods> = Promise<Answer<Methods[M]["output"]>>;

/** Calls a method, again if it fails in a way that may pass. */
export function call<M extends keyof Methods>(method: M, request: Input<M>, settings: Settings): Output<M> {
  const url = settings.baseUrl + PATHS[method];
  const headers = {
    ...headersOf(settings),
    "content-type": "application/json",
    // The server gives up when nobody waits any more.
    "connect-timeout-ms": String(settings.timeoutMs),
    ...(WRITES.includes(method) && { "idempotency-key": settings.idempotencyKey }),
  };
  const sent: RequestInit = { method: "POST", headers, body: toWire(request) };
  const tried = ONCE.includes(method) ? { ...settings, retries: 0 } : settings;
  return withRetries(tried, () => once<Methods[M]["output"]>(url, sent, settings));
}

/** Headers that every request has. */
export function headersOf({ apiKey, requestId, headers }: Settings): Record<string, string> {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return { ...headers, ...authorization, "x-request-id": requestId };
}

async function once<T>(url: string, sent: RequestInit, settings: Settings): Promise<Answer<T>> {
  const breaker = new Breaker(settings);
  breaker.within(settings.timeoutMs);
  try {
    return await breaker.until(answerTo<T>(url, { ...sent, signal: breaker.signal }, settings));
  } catch (error) {
    throw unreachable(url, error, settings.requestId);
  } finally {
    breaker.close();
  }
}

async function answerTo<T>(url: string, sent: RequestInit, settings: Settings): Promise<Answer<T>> {
  const response = await settings.fetch(url, { ...sent, redirect: "manual" });
  if (!response.ok) throw await refusalOf(response, url, settings.requestId);
  const { headers, status } = response;
  const requestId = headers.get("x-request-id") ?? settings.requestId;
  const body = jsonOf(await response.text(), { requestId, status });
  return { ...(fromWire(body) as T), requestId, replayed: headers.get("idempotent-replayed") === "true" };
}

function jsonOf(text: string, facts: { requestId: string; status: number }): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // Such as a proxy's page for signing in: asking again would not help.
    throw new RecalldError("unknown", "the answer is not JSON, so it is not recalld's", { ...facts, cause });
  }
}
