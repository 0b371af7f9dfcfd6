import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { MemoryError, unavailable } from "../../errors.js";
import type { EmbedInput } from "../../memory/ports/embedder.js";
import type { Encoded } from "../encode/encoder.js";
import { type Answer, type EmbeddingServer, type RequestFailedError, requestVectors } from "./request.js";

/** Requests that run at once, and what one of them holds at most: servers such as TEI take 32 texts. */
const REQUESTS_MAX = 8;
export const BATCH_MAX = { texts: 32, tokens: 8_192, bytes: 262_144 } as const;
/** Time for an answer; a server may load the model first. */
const ANSWER_TIMEOUT_MS = 20_000;
const PROBE_TIMEOUT_MS = 5_000;
/** Number of times that a request is sent, and the mean pause after the first one, which doubles each time. */
const ATTEMPTS_MAX = 5;
const PAUSE_MS = 200;
/** Share of a call's time for which the server is waited for; the rest is for storing its memory. */
const USABLE_SHARE = 0.9;
/** Time for a text of which no call waits, such as one of a namespace that moves here. */
const NO_CALL_MS = 60_000;
/**
 * Tokens that a model may add to a text. No text has more tokens than bytes, so a server that counts more than both is
 * wrong: a memory with such a number of tokens could not be answered.
 */
const SPECIAL_TOKENS_MAX = 64;
/** Interval of the probes of a server that is away. */
const PROBE_MS = 2_000;
const PROBE = "probe";

/** A text as it is sent, with its prefix. */
export interface Asked {
  readonly input: EmbedInput;
  readonly text: string;
  readonly tokens: number;
}

interface Waiting extends Asked {
  readonly untilMs: number;
  resolve(encoded: Encoded): void;
  reject(error: unknown): void;
}

/** Texts of one request. */
interface Batch {
  readonly texts: readonly Waiting[];
  /** Number of the attempt at them, from 1. */
  readonly attempt: number;
}

/** The server answers, but not for this text. */
export class TextFailedError extends MemoryError {
  override readonly name = "TextFailedError";
  /** Whether the text may be too long: servers refuse such a text, or fail on it. */
  readonly mayBeTooLong: boolean;

  constructor(failure: RequestFailedError) {
    const message = `the embedding server gives no vector for the text: ${failure.message}`;
    const { kind } = failure;
    super(kind === "lost" ? "unavailable" : "internal", message, { cause: failure, retryAfterMs: 1000 });
    this.mayBeTooLong = kind !== "unusable";
  }
}

/**
 * Sends texts that wait at the same time in one request. What fails is tried again while a caller waits for it. If
 * the server answers a probe meanwhile, a text of the request may be the reason: then its halves are sent apart, so that
 * no text fails another's. If it does not, the server is away: calls fail at once until it answers a probe.
 */
export class Batches {
  readonly #waiting: Waiting[] = [];
  /** Batches that are asked for once more, before what waits. */
  readonly #again: Batch[] = [];
  #running = 0;
  #failure: RequestFailedError | undefined;
  #probing: Promise<RequestFailedError | undefined> | undefined;
  readonly #closing = new AbortController();

  /** @param onAway called when the server goes away, with each probe that fails, and with undefined when it is back */
  constructor(
    private readonly server: EmbeddingServer,
    private readonly onAway: (failure: RequestFailedError | undefined) => void,
  ) {
    // One listener for each text that is tried again is no leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** @throws MemoryError `unavailable` if the server is away; TextFailedError */
  embed(asked: Asked): Promise<Encoded> {
    if (this.#failure !== undefined) return Promise.reject(away(this.#failure));
    const nowMs = performance.now();
    const { deadlineMs, field } = asked.input;
    const untilMs = nowMs + (deadlineMs === undefined ? NO_CALL_MS : (deadlineMs - nowMs) * USABLE_SHARE);
    return new Promise((resolve, reject) => {
      const firstText =
        field === "query" ? this.#waiting.findIndex((each) => each.input.field === "text") : -1;
      const at = firstText < 0 ? this.#waiting.length : firstText;
      this.#waiting.splice(at, 0, { ...asked, untilMs, resolve, reject });
      // Whatever else this iteration of the event loop brings goes into the same request.
      setImmediate(() => this.#send());
    });
  }

  /** Ends the probes and the pauses; requests that run are finished. */
  close(): void {
    this.#closing.abort();
  }

  #send(): void {
    while (this.#running < REQUESTS_MAX) {
      const batch = this.#again.shift() ?? { texts: takeBatch(this.#waiting), attempt: 1 };
      if (batch.texts.length === 0) return;
      this.#running++;
      void this.#ask(batch).finally(() => {
        this.#running--;
        this.#send();
      });
    }
  }

  #askAgain(batch: Batch): void {
    this.#again.push(batch);
    this.#send();
  }

  async #ask({ texts: batch, attempt }: Batch): Promise<void> {
    const nowMs = performance.now();
    const wanted = batch.filter(({ input, untilMs }) => !input.signal?.aborted && nowMs < untilMs);
    for (const each of batch)
      if (!wanted.includes(each)) each.reject(unavailable("the embedding server did not answer in time"));
    if (wanted.length === 0) return;
    const untilMs = Math.max(...wanted.map((each) => each.untilMs));
    const timeoutMs = Math.ceil(Math.min(ANSWER_TIMEOUT_MS, untilMs - nowMs));
    try {
      const texts = wanted.map(({ text }) => text);
      answer(wanted, await requestVectors(this.server, { texts, timeoutMs }));
    } catch (error) {
      const failure = error as RequestFailedError;
      const recovered = this.#recover({ texts: wanted, attempt }, failure);
      // A server that wants fewer requests, or says when to come back, gets no other one in place of this meanwhile. Any
      // other failure may be about these texts, for which those of other accounts do not wait.
      if (failure.kind === "limited" || failure.retryAfterMs !== undefined) await recovered;
    }
  }

  async #recover({ texts: batch, attempt }: Batch, failure: RequestFailedError): Promise<void> {
    const { kind, retryAfterMs = 0 } = failure;
    const trouble = kind === "limited" ? undefined : await this.#probe();
    const answers = kind !== "limited" && trouble === undefined;
    if (answers && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      for (const texts of [batch.slice(0, half), batch.slice(half)]) this.#askAgain({ texts, attempt: 1 });
      return;
    }
    const pauseMs = Math.max(retryAfterMs, PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
    const mayPass = (kind === "limited" || kind === "lost") && attempt < ATTEMPTS_MAX;
    const goesOn = mayPass && !this.#closing.signal.aborted;
    const atMs = performance.now() + pauseMs;
    const left = batch.filter(({ untilMs }) => goesOn && atMs < untilMs);
    if (left.length === 0 && trouble !== undefined) void this.#goAway(trouble);
    // Those whose time ends before the next attempt are rejected at once.
    for (const each of batch) if (!left.includes(each)) each.reject(errorOf(failure, trouble));
    if (left.length === 0) return;
    await this.#pause(pauseMs);
    this.#askAgain({ texts: left, attempt: attempt + 1 });
  }

  /** Asks the server for the vector of a text of our own; returns why it fails. Concurrent probes are one. */
  #probe(): Promise<RequestFailedError | undefined> {
    this.#probing ??= probe(this.server)
      .then(
        () => undefined,
        // A server that limits its rate is there.
        (failure: RequestFailedError) => (failure.kind === "limited" ? undefined : failure),
      )
      .finally(() => {
        this.#probing = undefined;
      });
    return this.#probing;
  }

  /** Lets calls fail at once until the server answers a probe. */
  async #goAway(trouble: RequestFailedError): Promise<void> {
    if (this.#failure !== undefined) return;
    for (const each of this.#waiting.splice(0)) each.reject(away(trouble));
    this.#failure = trouble;
    while (!this.#closing.signal.aborted) {
      this.onAway(this.#failure);
      if (this.#failure === undefined) return;
      await this.#pause(PROBE_MS, { ref: false });
      if (!this.#closing.signal.aborted) this.#failure = await this.#probe();
    }
  }

  /** @param ref whether the pause keeps the process alive */
  async #pause(ms: number, { ref = true } = {}): Promise<void> {
    // It rejects only on closing, which ends the pause.
    await sleep(ms, undefined, { ref, signal: this.#closing.signal }).catch(() => {});
  }
}

/** Asks for one vector of a text of our own. @throws RequestFailedError, which may repeat the server's words */
export function probe(server: EmbeddingServer): Promise<Answer> {
  return requestVectors(server, { texts: [PROBE], timeoutMs: PROBE_TIMEOUT_MS, quotes: true });
}

/** Takes as many of the waiting texts as fit into one request; the first one does in any case. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  let [texts, tokens, bytes] = [0, 0, 0];
  for (const each of waiting) {
    tokens += each.tokens;
    bytes += Buffer.byteLength(each.text);
    const fits = texts < BATCH_MAX.texts && tokens <= BATCH_MAX.tokens && bytes <= BATCH_MAX.bytes;
    if (texts > 0 && !fits) break;
    texts++;
  }
  return waiting.splice(0, texts);
}

/** Gives each text its vector, and its estimated share of the tokens; if the server counts none, the estimate. */
function answer(batch: readonly Waiting[], { vectors, tokens }: Answer): void {
  const estimated = batch.reduce((sum, each) => sum + each.tokens, 0);
  for (const [i, each] of batch.entries()) {
    const most = Buffer.byteLength(each.text) + SPECIAL_TOKENS_MAX;
    const share = Math.min(most, Math.max(1, Math.round(((tokens ?? estimated) * each.tokens) / estimated)));
    each.resolve({ vector: vectors[i] as Float32Array, tokens: share });
  }
}

/** @param trouble what the probe met, unless the server answered it */
function errorOf(failure: RequestFailedError, trouble: RequestFailedError | undefined): MemoryError {
  const { kind, retryAfterMs } = failure;
  if (trouble !== undefined) return away(trouble);
  if (kind === "limited") {
    return unavailable("the embedding server limits its rate", failure, Math.max(1000, retryAfterMs ?? 0));
  }
  return new TextFailedError(failure);
}

function away(failure: RequestFailedError): MemoryError {
  // The failure's words may be the server's own, which are the operator's to read.
  return unavailable("the embedding server is away", failure, PROBE_MS);
}
