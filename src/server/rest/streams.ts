import { once } from "node:events";
import { create, type DescMessage, type JsonObject, toJson } from "@bufbuild/protobuf";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { FastifyReply } from "fastify";
import type { Call } from "../call.js";
import { wireErrorOf } from "../errors.js";
import { JSON_OPTIONS } from "../json.js";
import { withStoredJson } from "../rpc/stored-json.js";
import type { StreamForm } from "./routes.js";

/** Form in which a stream's messages are written. */
interface Form {
  readonly headers: Readonly<Record<string, string>>;
  write(message: JsonObject): string;
  /** Writes an error that ends a stream whose status was sent already. */
  fail(error: { readonly code: string; readonly message: string }): string;
}

/** Time after which a browser connects again. */
const RETRY_MS = 1_000;

const FORMS: Readonly<Record<StreamForm, Form>> = {
  /** Events as HTML's `EventSource` reads them. Each has the position as its id. */
  events: {
    // Nginx would hold the events back.
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" },
    write({ position, ...event }) {
      const [name, data] = Object.entries(event)[0] ?? ["heartbeat", {}];
      // An id without data reaches no listener, but is kept.
      if (name === "heartbeat") return `: heartbeat\nretry: ${RETRY_MS}\nid: ${position}\n\n`;
      return `event: ${name}\nid: ${position}\ndata: ${JSON.stringify(data)}\n\n`;
    },
    fail: (error) => `event: failure\ndata: ${JSON.stringify(error)}\n\n`,
  },
  /** Lines of JSON. An error is the last line. */
  lines: {
    headers: { "content-type": "application/x-ndjson" },
    write: ({ line }) => `${line}\n`,
    fail: (error) => `${JSON.stringify({ error })}\n`,
  },
};

interface Sending {
  readonly call: Call;
  readonly reply: FastifyReply;
  readonly form: StreamForm;
  readonly output: DescMessage;
}

/** Sends messages as fast as the client takes them. An error before the first is answered like any other. */
export async function sendStream(
  messages: unknown,
  { call, reply, output, ...sending }: Sending,
): Promise<undefined> {
  const { raw } = reply;
  const form = FORMS[sending.form];
  const begin = () => {
    if (raw.headersSent) return;
    reply.hijack();
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...form.headers });
  };
  try {
    for await (const message of messages as AsyncIterable<Record<string, unknown>>) {
      begin();
      // It rejects only if the call is aborted, as when its client has gone: the next message tells.
      const json = toJson(output, create(output, message), JSON_OPTIONS) as JsonObject;
      if (!raw.write(withStoredJson(form.write(json))))
        await once(raw, "drain", { signal: call.signal }).catch(() => {});
      if (raw.destroyed) break;
    }
    // Some streams end without an error then.
    call.error = call.abortReason;
    if (raw.destroyed) return undefined;
    begin();
  } catch (error) {
    // Not by the headers: HTTP/2 sends none to a client that has gone meanwhile.
    if (!reply.sent) throw error;
    call.error = error;
    if (raw.destroyed) return undefined;
    const { code, rawMessage } = wireErrorOf(call, error);
    raw.write(form.fail({ code: codeToString(code), message: rawMessage }));
  }
  raw.end();
  return undefined;
}
