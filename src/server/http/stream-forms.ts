import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Form in which a stream's messages are written over plain HTTP. */
export interface Form {
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Adds to the request's JSON what the headers ask for. */
  amend(json: string, headers: IncomingHttpHeaders): string;
  /** Writes one message. */
  write(message: JsonValue): string;
  /** Writes an error that ends a stream whose status was sent already. */
  fail(error: { readonly code: string; readonly message?: string }): string;
}

/** Time after which a browser connects again. */
const RETRY_MS = 1_000;

/**
 * Events as HTML's `EventSource` reads them. Each has the position as its id, which comes back as
 * `Last-Event-ID` and then wins over the query, because the query stays that of the first request.
 */
export const EVENT_STREAM: Form = {
  type: "text/event-stream",
  // Nginx would hold the events back.
  headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" },
  amend(json, headers) {
    const last = headers["last-event-id"];
    if (typeof last !== "string" || last === "") return json;
    return JSON.stringify({ ...(JSON.parse(json) as JsonObject), position: last });
  },
  write(message) {
    const { position, ...event } = message as JsonObject;
    const [name, data] = Object.entries(event)[0] ?? ["heartbeat", {}];
    // An id without data reaches no listener, but is kept.
    if (name === "heartbeat") return `: heartbeat\nretry: ${RETRY_MS}\nid: ${position}\n\n`;
    return `event: ${name}\nid: ${position}\ndata: ${JSON.stringify(data)}\n\n`;
  },
  fail: ({ code, message }) => `event: failure\ndata: ${JSON.stringify({ code, message })}\n\n`,
};

/** Lines of JSON. An error is the last line. */
export const JSON_LINES: Form = {
  type: "application/x-ndjson",
  headers: { "content-type": "application/x-ndjson" },
  amend: (json) => json,
  write: (message) => `${(message as JsonObject).line}\n`,
  fail: ({ code, message }) => `${JSON.stringify({ error: { code, message } })}\n`,
};
