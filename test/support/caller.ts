import type { JsonObject } from "@bufbuild/protobuf";
import { type Outcome, readJson } from "./protocols.js";

/** An account as its client knows it. */
export interface Account {
  readonly id: string;
  readonly key: string;
}

/** A store as it was sent. A recall must return exactly this. */
export interface Sent {
  readonly text: string;
  readonly namespace: string;
  readonly metadata?: JsonObject;
}

/** One recalled memory in JSON. */
export interface Result {
  readonly id: string;
  readonly text: string;
  readonly score: number;
  readonly metadata: JsonObject;
  readonly created_at: string;
}

type Header = Readonly<Record<string, string>>;

/** Calls of one account at one server, over the plain paths. */
export interface Caller extends Account {
  readonly url: string;
  /** Returns the same account at another server. */
  at(url: string): Caller;
  store(sent: Sent, header?: Header): Promise<Outcome>;
  recall(query: string, namespace: string, topK?: number, header?: Header): Promise<Outcome>;
  get(namespace: string, id: string): Promise<Outcome>;
  forget(namespace: string, id: string): Promise<Outcome>;
  drop(namespace: string, options?: { force: boolean }): Promise<Outcome>;
  /** Makes any call, like `POST /store/batch`. */
  call(path: string, sent?: { body?: JsonObject; header?: Header }): Promise<Outcome>;
  /** Path of a namespace, or of a memory in it. */
  pathOf(namespace: string, memory?: string): string;
  /** Reads the number of calls that the account has used. */
  used(): Promise<number>;
}

/** Timeout above the server's limit of any call, so that a call that never ends fails its test. */
const CALL_TIMEOUT_MS = 40_000;

export async function signUp(url: string): Promise<Caller> {
  const { code, body, message } = await send(url, "POST /signup", { body: {} });
  if (code !== "ok") throw new Error(`sign-up: ${code}, ${message}`);
  return callerAt(url, { id: String(body.account_id), key: String(body.api_key) });
}

export function callerAt(url: string, { id, key }: Account): Caller {
  const call = (path: string, sent: { body?: JsonObject; header?: Header } = {}) =>
    send(url, path, { ...sent, header: { authorization: `Bearer ${key}`, ...sent.header } });
  const at = (namespace: string, memory?: string) =>
    `/namespaces/${encodeURIComponent(namespace)}${memory === undefined ? "" : `/memories/${memory}`}`;
  return {
    id,
    key,
    url,
    at: (other) => callerAt(other, { id, key }),
    call,
    pathOf: at,
    store: (sent, header = {}) => call("POST /store", { body: { ...sent }, header }),
    recall: (query, namespace, topK, header = {}) =>
      call("POST /recall", {
        body: { query, namespace, ...(topK !== undefined && { top_k: topK }) },
        header,
      }),
    get: (namespace, memory) => call(`GET ${at(namespace, memory)}`),
    forget: (namespace, memory) => call(`DELETE ${at(namespace, memory)}`),
    drop: (namespace, { force } = { force: true }) =>
      call(`DELETE ${at(namespace)}${force ? "?force=true" : ""}`),
    used: async () => {
      const { code, message, body } = await call("POST /recalld.v1.AccountService/GetAccount", { body: {} });
      if (code !== "ok") throw new Error(`GetAccount: ${code}, ${message}`);
      return body.calls_used as number;
    },
  };
}

/** Returns the results of a recall that must succeed. */
export function resultsOf({ code, message, body }: Outcome): Result[] {
  if (code !== "ok") throw new Error(`recall: ${code}, ${message}`);
  return body.results as unknown as Result[];
}

async function send(
  url: string,
  call: string,
  { body, header = {} }: { body?: JsonObject; header?: Header },
): Promise<Outcome> {
  const [method, path] = call.split(" ") as [string, string];
  const response = await fetch(url + path, {
    method,
    headers: body === undefined ? header : { "content-type": "application/json", ...header },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  return readJson(response);
}
