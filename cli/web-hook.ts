import { createHmac } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { retryAfterMs } from "../clients/typescript/src/refusal.js";
import { UsageError } from "./failure.js";

/** Characters that a secret has at least: fewer can be guessed from one signed request. */
const SECRET_CHARACTERS_MIN = 16;

export interface Receiver {
  readonly url: string;
  readonly secret: string;
}

/** Bounds of one delivery, in milliseconds. */
export const PATIENCE = {
  /** Time that the receiver has to answer one attempt. */
  answerMs: 10_000,
  /** Pause before the second attempt; each further one is twice as long. */
  firstPauseMs: 500,
  /** Longest pause, also where the receiver asks for a longer one by `Retry-After`. */
  pauseMsMax: 60_000,
  /** Time after which no further attempt is made. */
  giveUpAfterMs: 86_400_000,
};
type Patience = Readonly<typeof PATIENCE>;

/** A delivery that ended without being accepted. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
}

/**
 * Parses the address that gets the changes.
 *
 * @throws UsageError if it is no http or https URL, or has a user and password in it, which fetch refuses.
 */
export function receiverGiven(url: string, secret: string | undefined): Receiver {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !["http:", "https:"].includes(parsed.protocol)) {
    throw new UsageError(`--post ${JSON.stringify(url)}: it must be an http or https URL`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new UsageError("--post has a user or password: the signature proves who sends it");
  }
  if (secret === undefined || secret.length < SECRET_CHARACTERS_MIN) {
    throw new UsageError(
      `--post needs a secret of at least ${SECRET_CHARACTERS_MIN} characters: RECALLD_HOOK_SECRET or --secret`,
    );
  }
  return { url: parsed.href, secret };
}

/** `t=SECONDS,v1=HEX`: HMAC-SHA256, by the secret, of the time in seconds since 1970, a dot and the body. */
function signatureOf(body: string, { secret, atMs }: { secret: string; atMs: number }): string {
  const seconds = Math.floor(atMs / 1000);
  const signed = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return `t=${seconds},v1=${signed}`;
}

/**
 * Posts a body until the receiver accepts it by a status of 200 to 299.
 *
 * @param onRetry is told why an attempt failed and how long the pause before the next one is.
 * @throws DeliveryError if the receiver answers 410, or has not accepted it in `giveUpAfterMs`.
 */
export async function deliver(
  body: string,
  { url, secret }: Receiver,
  { headers, onRetry, patience = PATIENCE }: DeliveryOptions,
): Promise<void> {
  const begunMs = performance.now();
  for (let failures = 0; ; failures++) {
    const signature = signatureOf(body, { secret, atMs: Date.now() });
    const sent = { ...headers, "content-type": "application/json", "recalld-signature": signature };
    const refusal = await post(url, { body, headers: sent, answerMs: patience.answerMs });
    if (refusal === undefined) return;
    const pauseMs = Math.min(
      patience.pauseMsMax,
      Math.max(pauseAfter(failures, patience), refusal.retryAfterMs ?? 0),
    );
    if (performance.now() - begunMs + pauseMs > patience.giveUpAfterMs) {
      throw new DeliveryError(`gave up after ${failures + 1} attempts; the last one: ${refusal.reason}`);
    }
    onRetry(refusal.reason, pauseMs);
    await pause(pauseMs);
  }
}

interface DeliveryOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly onRetry: (reason: string, pauseMs: number) => void;
  readonly patience?: Patience;
}

/** Half of the pause is random, so that receivers that come back are not met by all senders at once. */
function pauseAfter(failures: number, { firstPauseMs, pauseMsMax }: Patience): number {
  return Math.min(pauseMsMax, firstPauseMs * 2 ** Math.min(failures, 16)) * (0.5 + Math.random() / 2);
}

/** One attempt, and why it was not accepted; undefined if it was. @throws DeliveryError if the receiver wants no more. */
async function post(
  url: string,
  { answerMs, ...request }: { body: string; headers: Record<string, string>; answerMs: number },
) {
  const signal = AbortSignal.timeout(answerMs);
  try {
    // A redirect would turn the POST into a GET, or send what is signed for one receiver to another.
    const answer = await fetch(url, { ...request, method: "POST", redirect: "manual", signal });
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    if (answer.status === 410) throw new DeliveryError("the receiver answers 410 Gone, and wants no more");
    return { reason: `HTTP ${answer.status}`, ...retryAfterMs(answer.headers.get("retry-after")) };
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    return { reason: signal.aborted ? `no answer in ${answerMs / 1000} s` : causeOf(error) };
  }
}

/** The cause of a failed fetch, such as ECONNREFUSED. The message of the error itself is only "fetch failed". */
function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { code, message: deeper } = (cause ?? {}) as NodeJS.ErrnoException;
  return code || deeper || message;
}
