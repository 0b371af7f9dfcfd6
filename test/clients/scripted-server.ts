import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { read } from "../support/documents.js";
import { freePort } from "../support/free-port.js";
import { portOf } from "./proxy.js";
import { signUp } from "./sign-up.js";

/** One case that every client must handle alike: clients/scenarios.json, in the contract's names. */
export interface Scenario {
  readonly name: string;
  readonly call: string;
  readonly request: Record<string, unknown>;
  readonly options?: Record<string, unknown>;
  /** Answers to the first request, the second and so on; the last repeats. */
  readonly answers: readonly Act[];
  /** Whether nobody listens where the client calls. */
  readonly refused?: boolean;
  /** Requests that must come. */
  readonly attempts?: number;
  readonly sent?: readonly Sent[];
  /** Shortest and longest time of each pause, in milliseconds. */
  readonly pauses?: readonly (readonly [number, number])[];
  /** The call's answer, or its items, and its error: each has at least these fields. */
  readonly result?: object;
  readonly results?: readonly object[];
  readonly error?: object;
  /** Items after which the iteration is left. */
  readonly take?: number;
  readonly give_up_after?: number;
  readonly then?: {
    readonly call: string;
    readonly request: Record<string, unknown>;
    readonly result: object;
  };
}

/** Parts of a request that are checked; the rest is free. */
interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly matching?: Record<string, string>;
  readonly absent?: readonly string[];
  readonly body?: object;
}

interface Act {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Some are of the connection alone; `lost`, `halved-server` and `pass` let a real server answer first. */
  readonly fault?: "reset" | "halved" | "silent" | "lost" | "halved-server" | "pass";
  /** Text of an answer that is read as it comes. */
  readonly stream?: string;
  /** Whether the stream ends, stays open or is reset; it ends when left out. */
  readonly ends?: boolean | "reset";
}

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export const scenarios: readonly Scenario[] = JSON.parse(read("clients/scenarios.json"));

export interface ScriptedServer {
  /** Below `/NAME-NUMBER/` it plays the scenario of that number, once for each name; `/requests/NAME-NUMBER` tells what came. */
  readonly url: string;
  /** Address at which nobody listens. */
  readonly closedUrl: string;
  close(): void;
}

/** Plays the scenarios over real connections; requests that need a real server go on to one, by a new account each time. */
export async function openScripted(realUrl: string): Promise<ScriptedServer> {
  const received = new Map<string, Received[]>();
  const keys = new Map<string, Promise<string>>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [, run = "", path = ""] = /^\/([\w-]+)(\/.*)$/.exec(request.url ?? "") ?? [];
    if (run === "requests") return void response.end(JSON.stringify(received.get(path.slice(1)) ?? []));
    const body = await textOf(request);
    const earlier = received.get(run) ?? [];
    const headers = request.headers as Record<string, string>;
    received.set(run, [...earlier, { method: request.method ?? "", path, headers, body }]);
    const { answers } = scenarios[Number(run.split("-")[1])] as Scenario;
    const act = answers[Math.min(earlier.length, answers.length - 1)] ?? {};
    if (!isReal(act)) return play(act, response);
    const key = keys.get(run) ?? signUp(realUrl);
    keys.set(run, key);
    const sent = { ...headers, authorization: `Bearer ${await key}`, host: "" };
    play(act, response, await forwarded(realUrl + path, { headers: sent, body }));
  };
  const server = createServer((request, response) => {
    // A client that gives up resets its connection.
    request.on("error", () => {});
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    closedUrl: `http://127.0.0.1:${await freePort()}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const isReal = ({ fault }: Act) => fault === "lost" || fault === "halved-server" || fault === "pass";

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

async function forwarded(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<Act> {
  const names = ["authorization", "content-type", "idempotency-key", "x-request-id"];
  const kept = Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])));
  const answer = await fetch(url, { method: "POST", headers: kept as Record<string, string>, body });
  return {
    status: answer.status,
    headers: { "idempotent-replayed": answer.headers.get("idempotent-replayed") ?? "false" },
    body: await answer.text(),
  };
}

function play(act: Act, response: ServerResponse, real: Act = act): void {
  const { fault, stream } = act;
  if (fault === "silent") return;
  if (fault === "reset" || fault === "lost") return void response.socket?.resetAndDestroy();
  if (stream !== undefined) return void playStream(stream, act.ends ?? true, response);
  const { status = 200, headers = {}, body } = real;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  response.writeHead(status, { ...headers, "content-length": bytes.length });
  if (fault !== "halved" && fault !== "halved-server") return void response.end(bytes);
  response.write(bytes.subarray(0, bytes.length - 10), () => response.socket?.resetAndDestroy());
}

function playStream(text: string, ends: boolean | "reset", response: ServerResponse): void {
  const bytes = Buffer.from(text);
  // In two pieces that cut a character where there is one of several bytes.
  const middle = bytes.findIndex((byte) => byte >= 0x80) + 1 || bytes.length >> 1;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(bytes.subarray(0, middle));
  setTimeout(() => {
    response.write(bytes.subarray(middle));
    if (ends === true) response.end();
    // Not in the same moment, so that what came before the reset can be read.
    if (ends === "reset") setTimeout(() => response.socket?.resetAndDestroy(), 50);
  }, 20);
}
