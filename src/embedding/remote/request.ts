import { messageOf } from "../../errors.js";
import { scaled } from "../encode/pooling.js";

/** Largest number of dimensions; a memory of many windows would be too large for a database otherwise. */
export const DIMENSIONS_MAX = 4_096;

/** Outcome of a request: `ok`, or the kind of its failure. */
export type RequestOutcome = "ok" | FailureKind;
/**
 * `lost`: the server could not be reached, did not answer in time or failed by itself; `limited`: it wants fewer
 * requests; `refused`: it takes no such request; `unusable`: its answer holds no vectors that can be used.
 */
type FailureKind = "lost" | "limited" | "refused" | "unusable";

/** Failure of one request. Its message never holds a text, the key or the server's address. */
export class RequestFailedError extends Error {
  override readonly name = "RequestFailedError";
  /** Time after which the server wants to be asked again, if it said so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly kind: FailureKind,
    message: string,
    { retryAfterMs, cause }: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

export interface Answer {
  /** A vector of length 1 for each text, in the order of the texts. */
  readonly vectors: readonly Float32Array<ArrayBuffer>[];
  /** Number of tokens that the server counted in all texts; undefined if it does not say. */
  readonly tokens: number | undefined;
}

/**
 * Reads the answer to `POST /embeddings` (https://platform.openai.com/docs/api-reference/embeddings).
 *
 * @param expected `dimensions` are undefined as long as no answer has told them
 * @throws RequestFailedError `unusable` if it is not one vector for each text.
 */
export function readAnswer(
  body: string,
  { texts, dimensions }: { readonly texts: number; readonly dimensions: number | undefined },
): Answer {
  const { data, usage } = (parse(body) ?? {}) as { data?: unknown; usage?: Record<string, unknown> | null };
  if (!Array.isArray(data)) throw unusable("holds no list of embeddings");
  if (data.length !== texts) throw unusable(`holds ${data.length} vectors for ${texts} texts`);
  const vectors = inOrder(data).map(({ embedding }) => normalised(numbersOf(embedding)));
  const expected = dimensions ?? vectors[0]?.length;
  const other = vectors.find(({ length }) => length !== expected);
  if (other !== undefined) throw unusable(`holds a vector of ${other.length} dimensions, not ${expected}`);
  const tokens = Number(usage?.prompt_tokens ?? usage?.total_tokens);
  return { vectors, tokens: Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // The parser's message quotes the answer.
    if (/^\s*</.test(body)) throw unusable("is HTML or XML, not JSON");
    if (/\b(NaN|Infinity)\b/.test(body)) throw unusable("holds NaN or Infinity, and is no JSON");
    throw unusable("is not JSON");
  }
}

interface Item {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/** Puts the vectors into the order of the texts, by their `index`; without any they are in order. */
function inOrder(data: readonly unknown[]): readonly Item[] {
  const items = data.map((item) => (item ?? {}) as Item);
  if (items.every(({ index }) => index === undefined || index === null)) return items;
  const ordered: Item[] = [];
  for (const item of items) if (Number.isInteger(item.index)) ordered[item.index as number] ??= item;
  // A gap stands for a number that came twice, or for one out of the range.
  if (ordered.length !== items.length || ordered.includes(undefined as never)) {
    throw unusable("numbers its vectors wrongly");
  }
  return ordered;
}

// Plain loops: the 32 largest vectors of an answer would hold the main thread six times as long with callbacks.

/** Reads a list of numbers, or base64 of float32 in little endian. */
function numbersOf(embedding: unknown): readonly number[] | Float32Array {
  if (typeof embedding === "string") {
    const bytes = Buffer.from(embedding, "base64");
    if (bytes.length % 4 > 0) throw unusable("holds a vector that is no base64 of float32");
    const values = new Float32Array(bytes.length / 4);
    for (let i = 0; i < values.length; i++) values[i] = bytes.readFloatLE(4 * i);
    return values;
  }
  if (!Array.isArray(embedding)) throw unusable("lacks a vector");
  if (!embedding.every((value) => typeof value === "number")) {
    throw unusable("holds a vector with something else than numbers");
  }
  return embedding;
}

function normalised(values: readonly number[] | Float32Array): Float32Array<ArrayBuffer> {
  if (values.length === 0) throw unusable("holds a vector without numbers");
  if (values.length > DIMENSIONS_MAX) {
    throw unusable(`holds a vector of ${values.length} dimensions; the limit is ${DIMENSIONS_MAX}`);
  }
  const { unit, length } = scaled(values);
  if (!Number.isFinite(length)) throw unusable("holds a vector with NaN or Infinity");
  if (length === 0) throw unusable("holds a vector of zeros");
  return unit;
}

function unusable(what: string): RequestFailedError {
  return new RequestFailedError("unusable", `its answer ${what}`);
}

/** Most bytes of an answer: those of a vector's number in JSON, and of all around the vectors. */
const NUMBER_BYTES_MAX = 32;
const AROUND_BYTES_MAX = 65_536;
/** Characters of the server's own words that a message repeats. */
const SAID_CHARS_MAX = 200;
/** Longest pause that a server may ask for. */
const RETRY_AFTER_MS_MAX = 300_000;

export interface EmbeddingServer {
  /** Address of `/embeddings`; only this is asked, whatever a redirect says. */
  readonly address: URL;
  readonly apiKey: string | undefined;
  /** Name of the model on the server. */
  readonly model: string;
  /** Number of dimensions to ask for; undefined leaves it to the model. */
  readonly dimensions: number | undefined;
  /** Number of dimensions of its vectors; undefined before its first answer. */
  readonly dimensionsFound?: number;
  /** Whether vectors are asked for as base64, which takes a fifth of the bytes; it may send numbers anyway. */
  readonly base64: boolean;
  /** Called after each request. */
  onRequest(request: { outcome: RequestOutcome; ms: number; tokens: number }): void;
}

interface Request {
  readonly texts: readonly string[];
  readonly timeoutMs: number;
  /** Whether errors repeat the server's words. It may quote a text, so only for texts of the program's own. */
  readonly quotes?: boolean;
}

/** Asks for the vectors of some texts, once. @throws RequestFailedError */
export async function requestVectors(server: EmbeddingServer, request: Request): Promise<Answer> {
  const beganMs = performance.now();
  const end = (outcome: RequestOutcome, tokens = 0) =>
    server.onRequest({ outcome, ms: performance.now() - beganMs, tokens });
  try {
    const answer = await ask(server, request);
    end("ok", answer.tokens);
    return answer;
  } catch (error) {
    const failure = error instanceof RequestFailedError ? error : lost(error, request);
    end(failure.kind);
    throw failure;
  }
}

async function ask(server: EmbeddingServer, request: Request): Promise<Answer> {
  const { texts, timeoutMs } = request;
  const response = await fetch(server.address, {
    method: "POST",
    headers: {
      accept: "application/json",
      "content-type": "application/json",
      ...(server.apiKey !== undefined && { authorization: `Bearer ${server.apiKey}` }),
    },
    body: JSON.stringify({
      model: server.model,
      input: texts,
      ...(server.base64 && { encoding_format: "base64" }),
      ...(server.dimensions !== undefined && { dimensions: server.dimensions }),
    }),
    // A redirect could lead the texts and the key anywhere.
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  const expected = { texts: texts.length, dimensions: server.dimensionsFound ?? server.dimensions };
  const numbers = texts.length * (expected.dimensions ?? DIMENSIONS_MAX);
  const body = await bodyOf(response, AROUND_BYTES_MAX + numbers * NUMBER_BYTES_MAX);
  if (response.ok) return readAnswer(body, expected);
  throw failed(response, request.quotes ? quoted(body, server) : "");
}

/** Reads a body, and gives it up as soon as it is too large. */
async function bodyOf(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new RequestFailedError("unusable", `its answer is over ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function failed({ status, headers }: Response, said: string): RequestFailedError {
  const retryAfterMs = retryAfterIn(headers);
  const message = `it answers with HTTP ${status}${said}`;
  if (status === 429) return new RequestFailedError("limited", message, { retryAfterMs });
  if (status === 408 || status >= 500) return new RequestFailedError("lost", message, { retryAfterMs });
  const hint: Record<number, string> = {
    401: "; EMBED_API_KEY may be wrong",
    404: "; EMBED_URL may be wrong",
  };
  const why = status < 400 ? ", a redirect, which is not followed" : (hint[status] ?? "");
  return new RequestFailedError("refused", message + why);
}

/** Reads `Retry-After`, in seconds or as a date. */
function retryAfterIn(headers: Headers): number | undefined {
  const given = headers.get("retry-after");
  if (given === null) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(RETRY_AFTER_MS_MAX, Math.max(0, ms));
}

/** Repeats the server's message, unless it may be about the key, of which servers quote parts. */
function quoted(body: string, { apiKey }: EmbeddingServer): string {
  const message = messageIn(body);
  if (typeof message !== "string" || /key|auth/i.test(message)) return "";
  // The whole key, before the cut: a part of it would stay otherwise.
  const said = apiKey === undefined ? message : message.replaceAll(apiKey, "…");
  return ` (${said.slice(0, SAID_CHARS_MAX)})`;
}

/** Finds the message where OpenAI's API has it, or where other servers do. */
function messageIn(body: string): unknown {
  try {
    const { error, message } = Object(JSON.parse(body));
    return error?.message ?? error ?? message;
  } catch {
    return undefined;
  }
}

function lost(error: unknown, { timeoutMs }: Request): RequestFailedError {
  if (error instanceof Error && error.name === "TimeoutError") {
    return new RequestFailedError("lost", `it did not answer within ${timeoutMs} ms`);
  }
  // fetch says no more than "fetch failed", and its cause may name the address.
  const { code = messageOf(error) } = ((error as Error).cause ?? error) as { code?: string };
  return new RequestFailedError("lost", `the connection failed (${code})`, { cause: error });
}
