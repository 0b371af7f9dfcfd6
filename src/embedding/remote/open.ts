import { setImmediate as nextIteration, setTimeout as sleep } from "node:timers/promises";
import { failedPrecondition, invalid, unavailable } from "../../errors.js";
import { type EmbedInput, REMOTE_PREFIX } from "../../memory/ports/embedder.js";
import { embedderOf, type OpenEmbedder } from "../embedder.js";
import { pinnedParts } from "../encode/convention.js";
import { tokensIn } from "../encode/cost.js";
import type { Encoded, Question } from "../encode/encoder.js";
import {
  type Part,
  WHOLE_TOKENS,
  WHOLE_UNITS,
  type WindowLimits,
  wholeUpTo,
  windowsOf,
} from "../encode/windows.js";
import type { ConventionSettings, FoundConvention } from "../models/find-convention.js";
import { type EmbedWorker, Pool } from "../pool/pool.js";
import { Batches, probe, TextFailedError } from "./batches.js";
import type { EmbeddingServer, RequestFailedError, RequestOutcome } from "./request.js";

/** Settings about the embedding server, by their names. */
export interface RemoteSettings {
  /** Base address of the API, such as `https://api.openai.com/v1`. */
  readonly embedUrl?: string | undefined;
  readonly embedApiKey?: string | undefined;
  readonly embedQueryPrefix?: string | undefined;
  readonly embedTextPrefix?: string | undefined;
  readonly embedDimensions?: number | undefined;
  /** Maximum number of tokens of a text that is sent, with its prefix. */
  readonly embedMaxTokens: number;
}

export interface RemoteOptions extends RemoteEvents {
  /** Id of the model, of the form `openai:NAME`. */
  readonly model: string;
  /** The prefixes that a database has, where they are others than those of the settings. */
  readonly settings?: ConventionSettings | undefined;
  readonly remote?: RemoteSettings | undefined;
}

export interface RemoteEvents {
  onRequest?: ((request: { outcome: RequestOutcome; ms: number; tokens: number }) => void) | undefined;
  /** Called when the server goes away, with each probe that fails, and with undefined when it is back. */
  onAway?: ((failure: unknown) => void) | undefined;
}

/** Texts that may be on their way at once: enough to fill the requests that run. */
const WORKERS = 128;
/** Time for which the start asks a server that does not answer. */
const START_MS = 5_000;
const START_PAUSE_MS = 250;
/** Share of the limit that an estimated number of tokens may reach: the estimate is up to a fifth too low. */
const ESTIMATED_SHARE = 0.8;
const TOKENS_MIN = 16;
/** UTF-16 units for each token of the limit, as with models that are loaded. */
const UNITS_PER_TOKEN = WHOLE_UNITS / WHOLE_TOKENS;

/**
 * Opens a model on a server that has OpenAI's API for embeddings.
 *
 * @throws MemoryError that says what to do if the settings do not suffice, the server does not answer, or its answer
 * is no vector.
 */
export async function openRemote(options: RemoteOptions): Promise<OpenEmbedder> {
  const { model: id, remote, settings, onAway = () => {} } = options;
  const name = id.slice(REMOTE_PREFIX.length);
  if (!/^\S{1,200}$/.test(name)) {
    throw invalid(
      "MODEL",
      `must have the model's name on the server behind ${REMOTE_PREFIX}, without blanks`,
    );
  }
  if (remote?.embedUrl === undefined)
    throw failedPrecondition(`MODEL=${id} needs EMBED_URL, and it is not set`);
  const prefixes = {
    query: settings?.queryPrefix ?? remote.embedQueryPrefix ?? "",
    text: settings?.passagePrefix ?? remote.embedTextPrefix ?? "",
  };
  const limits = limitsOf(remote.embedMaxTokens, prefixes);
  const server = await firstProbe({
    address: addressOf(remote.embedUrl),
    apiKey: remote.embedApiKey,
    model: name,
    dimensions: remote.embedDimensions,
    base64: true,
    onRequest: options.onRequest ?? (() => {}),
  });
  const batches = new Batches(server, onAway);
  /** Reads a text, or cuts one that is too long. The server decides about those that the estimate finds short. */
  const encode = async ({ text, field }: Question, input: EmbedInput): Promise<Encoded> => {
    const tokens = Math.max(1, Math.ceil(tokensIn(text)));
    const overlap = field === "text";
    if (tokens > limits.tokensMax || text.length > limits.unitsMax) {
      const parts = await partsOf(text, { ...limits, overlap });
      if (parts.length > 1) return { tokens, parts };
    }
    try {
      return await batches.embed({ text: prefixes[field] + text, tokens, input });
    } catch (error) {
      // The server may count more tokens than the estimate.
      if (!(error instanceof TextFailedError && error.mayBeTooLong) || tokens < 2 * TOKENS_MIN) throw error;
      const parts = await partsOf(text, { ...limits, tokensMax: Math.ceil(tokens / 2), overlap });
      if (parts.length < 2) throw error;
      return { tokens, parts };
    }
  };
  const start = async (): Promise<EmbedWorker> => ({
    ended: Promise.resolve(),
    onLost: () => {},
    encode,
    close: async () => {},
  });
  const pool = await Pool.open({ workers: WORKERS, start });
  const convention: FoundConvention = {
    convention: { pooling: "model", queryPrefix: prefixes.query, passagePrefix: prefixes.text },
    assumed: false,
  };
  const pinned = pinnedParts(convention.convention);
  // Nothing says which files a server has loaded.
  const model = { id, revision: "unknown", dtype: "float32", dimensions: server.dimensionsFound, ...pinned };
  const close = async () => {
    batches.close();
    await pool.close();
  };
  return { ...embedderOf(pool, { model, convention }), close };
}

type Prefixes = Readonly<Record<Question["field"], string>>;

/** Limits of a text that is sent, without its prefix; the tokens are estimated ones. */
type Limits = Pick<WindowLimits, "tokensMax" | "unitsMax">;

function limitsOf(maxTokens: number, prefixes: Prefixes): Limits {
  const taken = Math.ceil(Math.max(...Object.values(prefixes).map(tokensIn)));
  const tokensMax = Math.floor((maxTokens - taken) * ESTIMATED_SHARE);
  if (tokensMax >= TOKENS_MIN) return { tokensMax, unitsMax: tokensMax * UNITS_PER_TOKEN };
  throw failedPrecondition(
    `EMBED_MAX_TOKENS is ${maxTokens}, and the prefixes take about ${taken} of them; make it larger`,
  );
}

function addressOf(url: string): URL {
  const address = new URL(url);
  address.pathname = `${address.pathname.replace(/\/+$/, "")}/embeddings`;
  return address;
}

/**
 * Learns the number of dimensions, and whether a server takes requests for base64, by the first answer.
 *
 * @throws MemoryError that names the setting.
 */
async function firstProbe(asked: EmbeddingServer): Promise<EmbeddingServer & { dimensionsFound: number }> {
  const untilMs = performance.now() + START_MS;
  for (let server = asked; ; ) {
    try {
      const { vectors } = await probe(server);
      return { ...server, dimensionsFound: vectors[0]?.length as number };
    } catch (error) {
      const { kind, message } = error as RequestFailedError;
      const isAway = kind === "lost" || kind === "limited";
      if (isAway && performance.now() < untilMs) await sleep(START_PAUSE_MS);
      else if (kind === "refused" && server.base64) server = { ...server, base64: false };
      else {
        const { origin, pathname } = server.address;
        // A query may hold a key.
        const where = `EMBED_URL: the embedding server at ${origin}${pathname}`;
        if (isAway) throw unavailable(`${where} does not answer: ${message}`, error);
        throw failedPrecondition(`${where} gives no vectors of ${server.model}: ${message}`, {
          cause: error,
        });
      }
    }
  }
}

/** Windows' lengths that are cut at a time, so that a long text does not hold the main thread. */
const WINDOWS_AT_A_TIME = 2;
const UNITS_AT_A_TIME_MIN = 4_096;

/** Cuts a text into windows by estimated tokens, a slice at a time. */
export async function partsOf(text: string, limits: Omit<WindowLimits, "countTokens">): Promise<Part[]> {
  const units = Math.max(UNITS_AT_A_TIME_MIN, WINDOWS_AT_A_TIME * limits.unitsMax);
  const parts: Part[] = [];
  for (let from = 0; ; ) {
    const slice = text.slice(from, wholeUpTo(text, Math.min(from + units, text.length)));
    const isLast = from + slice.length === text.length;
    const windows = windowsOf(slice, { ...limits, countTokens: tokensIn }).map(({ start, end }) => ({
      start: from + start,
      end: from + end,
    }));
    // The last window of a slice is not whole: the next slice begins with it.
    const next = isLast || windows.length < 2 ? undefined : windows.pop();
    parts.push(...windows);
    if (isLast) return parts;
    from = next?.start ?? from + slice.length;
    await nextIteration();
  }
}
