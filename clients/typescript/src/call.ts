import { Breaker } from "./breaker.js";
import { FIRST_FIELDS, type Methods, ONCE, PATHS, WRITES } from "./contract.js";
import { type ErrorFacts, notOurs, unreachable } from "./errors.js";
import { fromWire, parsed, toWire } from "./json.js";
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
  const json = toWire(request);
  const headers = {
    // The server gives up when nobody waits any more.
    "connect-timeout-ms": String(settings.timeoutMs),
    ...(WRITES.includes(method) && { "idempotency-key": settings.idempotencyKey }),
  };
  const tried = ONCE.includes(method) ? { ...settings, retries: 0 } : settings;
  return withRetries(tried, async () => {
    const { body, requestId, replayed, status } = await post(
      { path: PATHS[method], json, headers },
      settings,
    );
    const answer = fromWire(body) as Methods[M]["output"];
    checkAnswer(method, answer, { requestId, status });
    return { ...answer, requestId, replayed };
  });
}

/** Checks that an answer is recalld's: another server may answer anything with `{}`. @throws RecalldError `unknown` */
function checkAnswer(method: keyof Methods, answer: object, facts: ErrorFacts): void {
  const [field, kind] = FIRST_FIELDS[method];
  const value = (answer as Readonly<Record<string, unknown>>)[field];
  if (kind === "list" ? Array.isArray(value) : typeof value === kind && value !== null) return;
  throw notOurs(`its ${field} is ${JSON.stringify(value)}`, facts);
}

/** Headers that every request has. */
export function headersOf({ apiKey, requestId, headers }: Settings): Record<string, string> {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return { ...headers, ...authorization, "x-request-id": requestId };
}

export interface Posting {
  /** Path and query below the server's address. */
  readonly path: string;
  readonly json: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Posted extends Answered {
  readonly body: object;
  readonly headers: Headers;
  readonly status: number;
}

/** Posts JSON once, and reads the JSON of the answer. @throws RecalldError also if the server refuses it */
export async function post({ path, json, headers }: Posting, settings: Settings): Promise<Posted> {
  const url = settings.baseUrl + path;
  const breaker = new Breaker(settings);
  breaker.within(settings.timeoutMs);
  const request: RequestInit = {
    method: "POST",
    headers: { ...headersOf(settings), "content-type": "application/json", ...headers },
    body: json,
    redirect: "manual",
    signal: breaker.signal,
  };
  try {
    return await breaker.until(answerTo(url, request, settings));
  } catch (error) {
    throw unreachable(url, error, settings.requestId);
  } finally {
    breaker.close();
  }
}

async function answerTo(url: string, request: RequestInit, settings: Settings): Promise<Posted> {
  const response = await settings.fetch(url, request);
  if (!response.ok) throw await refusalOf(response, url, settings.requestId);
  const { headers, status } = response;
  const requestId = headers.get("x-request-id") ?? settings.requestId;
  const body = parsed(await response.text(), { requestId, status });
  return { body, headers, status, requestId, replayed: headers.get("idempotent-replayed") === "true" };
}
