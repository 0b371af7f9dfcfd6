import type { JsonValue } from "@bufbuild/protobuf";
import {
  type EnvelopedMessage,
  encodeEnvelope,
  pipe,
  transformSplitEnvelope,
  type UniversalHandler,
  type UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { codeFromString, codeToHttpStatus, endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { universalRequestFromNodeRequest } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { browserContextOf } from "../rpc/caller.js";
import { protocolKey } from "../rpc/observe.js";
import { once, refusing } from "../wire/plain-errors.js";
import { answer } from "./answer.js";
import { requestOf } from "./resource-paths.js";
import { EVENT_STREAM, type Form, JSON_LINES } from "./stream-forms.js";

/** Path whose answer is a stream. */
export interface StreamPath {
  readonly url: string;
  readonly rpc: string;
  readonly form: Form;
}

export const STREAM_PATHS: readonly StreamPath[] = [
  {
    url: "/namespaces/:namespace/events",
    rpc: "/recalld.v1.MemoryService/WatchNamespace",
    form: EVENT_STREAM,
  },
  {
    url: "/namespaces/:namespace/export",
    rpc: "/recalld.v1.MemoryService/ExportMemories",
    form: JSON_LINES,
  },
];

/** Maximum size of one message of an answer. */
const MESSAGE_BYTES_MAX = 67_108_864;

/** Mounts the paths: each is answered by its RPC's own handler, as if Connect had asked for its stream. */
export function addStreamPaths(app: FastifyInstance, handlerOf: (rpc: string) => UniversalHandler): void {
  for (const { url, rpc, form } of STREAM_PATHS) {
    app.route({
      method: "GET",
      url,
      handler: async (request, reply) => {
        reply.hijack();
        for (const [name, value] of Object.entries(reply.getHeaders()))
          reply.raw.setHeader(name, value ?? "");
        const handler = handlerOf(rpc);
        const values = browserContextOf(request.raw).set(protocolKey, "json");
        const asked = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, values);
        asked.header.set("content-type", "application/connect+json");
        // These describe a body that is not read, and a stream that nobody unpacks here.
        for (const name of UNREAD) asked.header.delete(name);
        const body = bodyOf(request, handler, form.given(request.headers, values));
        const answered = await handler({ ...asked, method: "POST", body });
        await answer(await inForm(answered, form), reply);
      },
    });
  }
}

const UNREAD = [
  ...["content-length", "content-encoding", "accept-encoding"],
  ...["connect-content-encoding", "connect-accept-encoding"],
];

function bodyOf(
  request: FastifyRequest,
  { method }: UniversalHandler,
  given: Readonly<Record<string, string>>,
): AsyncIterable<Uint8Array> {
  try {
    return once(encodeEnvelope(0, Buffer.from(requestOf(request, method.input, given))));
  } catch (error) {
    // The error is answered after the gate, when the body is read.
    return refusing(error);
  }
}

/** Writes Connect's stream in another form. A call that is refused is answered like any other. */
async function inForm(answer: UniversalServerResponse, form: Form): Promise<UniversalServerResponse> {
  if (answer.status !== 200 || answer.body === undefined) return answer;
  const messages = pipe(answer.body as AsyncIterable<Uint8Array>, transformSplitEnvelope(MESSAGE_BYTES_MAX));
  const parts = messages[Symbol.asyncIterator]();
  const first = await parts.next();
  const refused = first.done === true ? undefined : endOf(first.value);
  const header = new Headers(answer.header);
  if (refused?.error !== undefined) return refusalOf(refused, header);
  for (const [name, value] of Object.entries(form.headers)) header.set(name, value);
  return { ...answer, header, body: written(first, parts, form) };
}

async function* written(
  first: IteratorResult<EnvelopedMessage>,
  parts: AsyncIterator<EnvelopedMessage>,
  form: Form,
): AsyncGenerator<Uint8Array> {
  try {
    for (let part = first; part.done !== true; part = await parts.next()) {
      const end = endOf(part.value);
      if (end === undefined) yield Buffer.from(form.write(jsonOf(part.value)));
      else if (end.error !== undefined) yield Buffer.from(form.fail(end.error));
    }
  } finally {
    await parts.return?.();
  }
}

/** The end of one of Connect's streams. */
interface End {
  readonly error?: { readonly code: string; readonly message?: string };
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

function endOf(part: EnvelopedMessage): End | undefined {
  return (part.flags & endStreamFlag) === 0 ? undefined : (jsonOf(part) as End);
}

function jsonOf({ data }: EnvelopedMessage): JsonValue {
  return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
}

function refusalOf({ error, metadata = {} }: End, header: Headers): UniversalServerResponse {
  for (const [name, values] of Object.entries(metadata)) header.set(name, values.join(", "));
  header.set("content-type", "application/json");
  const code = codeFromString(String(error?.code));
  const status = code === undefined ? 500 : codeToHttpStatus(code);
  return { status, header, body: once(Buffer.from(JSON.stringify(error))) };
}
