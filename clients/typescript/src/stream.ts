import { Breaker } from "./breaker.js";
import { headersOf } from "./call.js";
import { RecalldError, unreachable } from "./errors.js";
import { invalid, type Settings } from "./options.js";
import { refusalOf } from "./refusal.js";
import { withRetries } from "./retries.js";

/** Longest line: a memory of 80 KiB, six times as long where all is escaped, and a thousand vectors. */
const LINE_CHARACTERS_MAX = 16_777_216;

export interface Stream {
  /** Id of the call, also in the server's log. */
  readonly requestId: string;
  /** The answer's lines, without their ends. They can be read once; to stop early closes the stream. */
  readonly lines: AsyncGenerator<string, void, undefined>;
}

export interface Wanted {
  /** Path below the namespace: `events`. */
  readonly path: string;
  readonly namespace: string;
  readonly query: Readonly<Record<string, string>>;
  /** Longest silence, in milliseconds, after which the stream counts as broken. */
  readonly silenceMs: number;
}

/** Opens a stream of lines, again if it fails in a way that may pass. */
export function openStream(wanted: Wanted, settings: Settings): Promise<Stream> {
  const url = addressOf(wanted, settings);
  return withRetries(settings, async () => {
    const breaker = new Breaker(settings);
    breaker.within(settings.timeoutMs);
    try {
      const request: RequestInit = {
        headers: headersOf(settings),
        signal: breaker.signal,
        redirect: "manual",
      };
      const response = await breaker.until(settings.fetch(url, request));
      // Of a 204, which is ok as well, there is nothing to read.
      if (response.status !== 200) throw await breaker.until(refusalOf(response, url, settings.requestId));
      const requestId = response.headers.get("x-request-id") ?? settings.requestId;
      return { requestId, lines: linesOf(response, { url, breaker, silenceMs: wanted.silenceMs }) };
    } catch (error) {
      breaker.close();
      throw unreachable(url, error, settings.requestId);
    }
  });
}

function addressOf({ path, namespace, query }: Wanted, { baseUrl }: Settings): string {
  if (typeof namespace !== "string" || namespace === "") throw invalid("namespace", "namespace is missing");
  // URLs drop such a part of a path, even if it is encoded.
  if (namespace === "." || namespace === "..") {
    throw invalid(
      "namespace",
      `the namespace ${namespace} cannot be in a URL: watch and export need another`,
    );
  }
  if (/\p{Surrogate}/u.test(namespace)) throw invalid("namespace", "namespace has a lone surrogate");
  const asked = new URLSearchParams(query).toString();
  return `${baseUrl}/namespaces/${encodeURIComponent(namespace)}/${path}${asked === "" ? "" : `?${asked}`}`;
}

interface Reading {
  readonly url: string;
  readonly breaker: Breaker;
  readonly silenceMs: number;
}

async function* linesOf(
  { body }: Response,
  { url, breaker, silenceMs }: Reading,
): AsyncGenerator<string, void, undefined> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  // Where `fetch` does not know the signal once it has answered. A stream that has failed rejects with its error,
  // which reading throws as well.
  const cancel = () => void reader.cancel().catch(() => {});
  breaker.signal.addEventListener("abort", cancel, { once: true });
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      breaker.within(silenceMs);
      const { done, value } = await reader.read();
      // The time of the one who reads is not the server's.
      breaker.rest();
      if (breaker.error !== undefined) throw breaker.error;
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() as string;
      if (rest.length > LINE_CHARACTERS_MAX) throw new RecalldError("internal", "a line is too long");
      for (const line of lines) {
        yield line;
        // The caller may have given up meanwhile.
        if (breaker.error !== undefined) throw breaker.error;
      }
    }
  } catch (error) {
    throw breaker.error ?? unreachable(url, error);
  } finally {
    breaker.close();
  }
}
