import { once } from "node:events";
import { create, type JsonObject, toJson } from "@bufbuild/protobuf";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Call } from "../call.js";
import type { Calls } from "../calls.js";
import type { Rpc } from "../rpc/service.js";
import { wireErrorOf } from "../wire/errors.js";
import { readJson } from "../wire/json-body.js";
import { JSON_OPTIONS } from "../wire/json-options.js";
import { STREAM_ROUTES, type StreamRoute } from "./routes.js";
import { requestOf } from "./rpcs.js";
import { type Asked, serve } from "./serve.js";

/** Form in which a stream's messages are written. */
interface Form {
  readonly headers: Readonly<Record<string, string>>;
  /** Writes one message. */
  write(message: JsonObject): string;
  /** Writes an error that ends a stream whose status was sent already. */
  fail(error: { readonly code: string; readonly message: string }): string;
}

/** Time after which a browser connects again. */
const RETRY_MS = 1_000;

const FORMS: Readonly<Record<StreamRoute["form"], Form>> = {
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

/** Serves the RPCs whose answers are streams. */
export function addStreams(
  app: FastifyInstance,
  { calls, rpcs }: { readonly calls: Calls; readonly rpcs: ReadonlyMap<string, Rpc> },
): void {
  for (const { rpc, form: name, ...path } of STREAM_ROUTES) {
    const { descriptor, serve: method } = rpcs.get(rpc) as Rpc;
    const { input, output } = descriptor;
    const form = FORMS[name];
    const write = (message: Record<string, unknown>) =>
      form.write(toJson(output, create(output, message), JSON_OPTIONS) as JsonObject);
    const answer = async (call: Call, { request, reply }: Asked) => {
      await calls.begin(call);
      const given = name === "events" ? lastEventIn(call) : {};
      call.message = readJson(input, Buffer.from(requestOf(request, input, given)));
      const messages = method(call.message as never, call) as AsyncIterable<Record<string, unknown>>;
      await send(messages, { call, reply, write, form });
      return undefined;
    };
    serve(app, { ...path, name: rpc, credential: "either", streams: true, answer }, calls);
  }
}

/**
 * The id of the last event that a browser has seen, which wins over the query: that stays the one of the first
 * request.
 */
function lastEventIn(call: Call): Readonly<Record<string, string>> {
  const last = call.headers["last-event-id"];
  if (typeof last !== "string" || last === "") return {};
  call.positionName = "Last-Event-ID";
  return { position: last };
}

interface Sending {
  readonly call: Call;
  readonly reply: FastifyReply;
  readonly form: Form;
  write(message: Record<string, unknown>): string;
}

/** Sends messages as fast as the client takes them. An error before the first is answered like any other. */
async function send(
  messages: AsyncIterable<Record<string, unknown>>,
  { call, reply, form, write }: Sending,
): Promise<void> {
  const { raw } = reply;
  const begin = () => {
    if (raw.headersSent) return;
    reply.hijack();
    raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...form.headers });
  };
  try {
    for await (const message of messages) {
      begin();
      // It rejects only if the call is aborted, as when its client has gone: the next message tells.
      if (!raw.write(write(message))) await once(raw, "drain", { signal: call.signal }).catch(() => {});
      if (raw.destroyed) return;
    }
    begin();
  } catch (error) {
    if (!raw.headersSent) throw error;
    call.error = error;
    const { code, rawMessage } = wireErrorOf(call, error);
    raw.write(form.fail({ code: codeToString(code), message: rawMessage }));
  }
  raw.end();
}
