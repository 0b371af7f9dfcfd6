/** Largest number of dimensions; a memory of many windows would be too large for a database otherwise. */
export const DIMENSIONS_MAX = 4_096;

/** Outcome of a request: `ok`, or the kind of its failure. */
export type RequestOutcome = "ok" | FailureKind;
/**
 * `lost`: the server could not be reached, did not answer in time or failed by itself; `limited`: it wants fewer
 * requests; `refused`: it takes no such request; `unusable`: its answer holds no vectors that can be used.
 */
export type FailureKind = "lost" | "limited" | "refused" | "unusable";

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

export interface Expected {
  readonly texts: number;
  /** Undefined as long as no answer has told it. */
  readonly dimensions: number | undefined;
}

/**
 * Reads the answer to `POST /embeddings` (https://platform.openai.com/docs/api-reference/embeddings).
 *
 * @throws RequestFailedError `unusable` if it is not one vector for each text.
 */
export function readAnswer(body: string, { texts, dimensions }: Expected): Answer {
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

/** Reads a list of numbers, or base64 of float32 in little endian. */
function numbersOf(embedding: unknown): readonly number[] | Float32Array {
  if (typeof embedding === "string") {
    const bytes = Buffer.from(embedding, "base64");
    if (bytes.length % 4 > 0) throw unusable("holds a vector that is no base64 of float32");
    return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
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
  let squares = 0;
  for (const value of values) squares += value * value;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length)) throw unusable("holds a vector with NaN or Infinity");
  if (length === 0) throw unusable("holds a vector of zeros");
  return Float32Array.from(values, (value) => value / length);
}

function unusable(what: string): RequestFailedError {
  return new RequestFailedError("unusable", `its answer ${what}`);
}
