import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import { positionNameKey } from "../rpc/position-name.js";

/** Form in which a stream's messages are written over plain HTTP. */
export interface Form {
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Fields that the headers give, each in place of the query's. What is known of them goes into the context. */
  given(headers: IncomingHttpHeaders, values: ContextValues): Readonly<Record<string, string>>;
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
  given(headers, values) {
    const last = headers["last-event-id"];
    if (typeof last !== "string" || last === "") return {};
    values.set(positionNameKey, "Last-Event-ID");
    return { position: last };
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
  given: () => ({}),
  write: (message) => `${(message as JsonObject).line}\n`,
  fail: ({ code, message }) => `${JSON.stringify({ error: { code, message } })}\n`,
};
