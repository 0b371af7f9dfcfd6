import { FROM_PORTAL, SERVICE_URL } from "../session/client";
import type { Call } from "./calls";
import { requestOf } from "./request";

export const IDEMPOTENCY_KEY = "Idempotency-Key";
const KEY_BYTES = 8;

export interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
  /** Whether an earlier attempt with the same Idempotency-Key had done it already. */
  readonly replayed: boolean;
}

/** Sends plain HTTP, not through the client like other calls, so that users can also try wrong input. */
export async function send(
  call: Call,
  values: Readonly<Record<string, string>>,
  body: string,
): Promise<Answer> {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
  const { method, path } = requestOf(call, given);
  const headers = new Headers(FROM_PORTAL);
  for (const { name, in: location } of call.parameters)
    if (location === "header" && given[name]) headers.set(name, given[name]);
  const sendsBody = call.requestBody !== undefined && body !== "";
  if (sendsBody) headers.set("content-type", "application/json");
  const start = performance.now();
  const response = await fetch(SERVICE_URL + path, { method, headers, ...(sendsBody && { body }) });
  const text = await response.text();
  return {
    status: response.status,
    ms: Math.round(performance.now() - start),
    text: pretty(text),
    replayed: response.headers.get("idempotent-replayed") === "true",
  };
}

/** Makes a key that nobody has used: random bytes, because pages without TLS have no `randomUUID`. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
