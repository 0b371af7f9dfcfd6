import { invalid, MemoryError } from "../../errors.js";
import { weightOf } from "../ports/bounds.js";
import type { Answered } from "../ports/claims.js";
import type { Embedding } from "../ports/embedder.js";
import type { Entry, Erased, MemoryHeader, Stored } from "../ports/log.js";
import { handleSecrets, type OnSecret, type Redacted } from "../requests/handle-secrets.js";
import { parseSupersedes } from "../requests/id.js";
import { type JsonObject, parseMetadata } from "../requests/metadata.js";
import { parseExternalId } from "../requests/namespace.js";
import { parseLowestScore } from "../requests/recall-options.js";
import { parseText } from "../requests/text.js";
import { type Expiry, parsePastExpiry, parseTimeOfYears } from "../requests/times.js";
import { etagOf } from "../versions/current-version.js";
import { checkStore, decideStore, type OnConflict, type StoreConditions } from "./deciding.js";
import type { Ports } from "./ports.js";
import { SimilarMemories } from "./similar-memories.js";
import type { Item } from "./write.js";

/** A memory to store as the contract has it; times are milliseconds since 1970. */
export interface MemoryRequest {
  readonly text: string;
  readonly metadata?: JsonObject | undefined;
  readonly onSecret?: OnSecret | undefined;
  readonly eventAtMs?: number | undefined;
  readonly externalId?: string | undefined;
  readonly onConflict?: OnConflict | undefined;
  readonly expiry?: Expiry | undefined;
  readonly supersedes?: readonly string[] | undefined;
  readonly similarAbove?: number | undefined;
  readonly onSimilar?: OnSimilar | undefined;
}

/** Action of a store if a memory that says the same is there. */
export type OnSimilar = "store" | "keep" | "supersede";

/** Options of a store beside the memory itself, and the conditions under which it is stored. */
interface StoreOptions extends StoreConditions {
  readonly expiresAtMs: number | undefined;
  /** True if it has expired already, as one whose store is tried again may have. */
  readonly isPast: boolean;
  readonly similarAbove: number | undefined;
  readonly onSimilar: OnSimilar;
  /** The options as they were asked for, by which two requests are compared. */
  readonly asked: string;
}

/** A memory to store. */
export interface ParsedMemory {
  readonly text: string;
  /** JSON of an object. */
  readonly metadata: string;
  /** Undefined if nothing was redacted. */
  readonly redacted: Redacted | undefined;
  readonly eventAtMs: number | undefined;
  /** Undefined in a store that depends on nothing. */
  readonly storeOptions: StoreOptions | undefined;
  /** Share of the text's letters and emoji that the model can hardly read; undefined if it reads at least half. */
  readonly unreadShare: number | undefined;
}

/** A memory that was stored, and what its caller is told of its text. */
export interface StoredMemory extends Answered, Partial<Pick<ParsedMemory, "unreadShare" | "redacted">> {}

/** @throws MemoryError `invalid_argument` */
export function parseMemory(request: MemoryRequest, ports: Ports): ParsedMemory {
  const { onSecret = ports.onSecret ?? "store" } = request;
  const given = { text: parseText("text", request.text), metadata: request.metadata };
  const metadata = parseMetadata(given.metadata);
  const handled = handleSecrets(given, onSecret);
  const eventAtMs = parseTimeOfYears("event_time", request.eventAtMs);
  const asked = parseStoreOptions(request, ports.clock.wallMs());
  const unreadShare = ports.modelVersions.unreadShare(handled.text);
  return {
    text: handled.text,
    metadata: handled.redacted === undefined ? metadata : parseMetadata(handled.metadata),
    redacted: handled.redacted,
    eventAtMs,
    // To the model, any two texts that it can hardly read may be alike, so likeness must not replace or refuse one.
    storeOptions: asked && unreadShare !== undefined ? { ...asked, onSimilar: "store" } : asked,
    unreadShare,
  };
}

/** Parses what a store asks for beyond a memory; undefined if it asks for nothing. */
function parseStoreOptions(request: MemoryRequest, nowMs: number): StoreOptions | undefined {
  const { onConflict, expiry, onSimilar = "store" } = request;
  const externalId = parseExternalId(request.externalId ?? "");
  if (onConflict !== undefined && externalId === undefined) {
    throw invalid("on_conflict", "needs an external_id");
  }
  const supersedes = parseSupersedes(request.supersedes ?? []);
  const similarAbove = parseLowestScore("similar_above", request.similarAbove);
  if (onSimilar !== "store" && similarAbove === undefined) throw invalid("on_similar", "needs similar_above");
  if (onSimilar !== "store" && externalId !== undefined) {
    throw invalid("on_similar", "cannot stand beside external_id, which has on_conflict");
  }
  const expiresAtMs = parsePastExpiry(expiry, nowMs);
  const asksNothing = externalId === undefined && expiry === undefined && similarAbove === undefined;
  if (asksNothing && supersedes.length === 0) return undefined;
  const asked = [externalId, onConflict, expiry, supersedes, request.similarAbove].map((it) => it ?? null);
  return {
    externalId,
    onConflict: onConflict ?? "refuse",
    supersedes,
    expiresAtMs,
    isPast: expiresAtMs !== undefined && expiresAtMs <= nowMs,
    similarAbove,
    onSimilar,
    // Without on_similar as in releases that did not have it: the keys of their claims stay valid.
    asked: JSON.stringify(onSimilar === "store" ? asked : [...asked, onSimilar]),
  };
}

/** Makes what is written for a memory to store; `id` is that of the operation. */
export function storeItem(
  id: string,
  { text, metadata, eventAtMs, storeOptions }: ParsedMemory,
): Item<Answered> {
  const memoryOf = (embedding: Embedding | undefined, nowMs: number): Stored => ({
    op: "store",
    opId: id,
    id,
    text,
    metadata,
    createdAtMs: nowMs,
    ...(eventAtMs !== undefined && { eventAtMs }),
    ...(embedding as Embedding),
  });
  if (storeOptions === undefined) {
    return {
      id,
      text,
      entryIn: ({ embedding, nowMs }) => memoryOf(embedding, nowMs),
      answer: async (existing) => answerOf(existing),
    };
  }
  const { similarAbove: above, onSimilar, externalId, expiresAtMs, isPast, supersedes } = storeOptions;
  let similar: SimilarMemories | undefined;
  return {
    id,
    text,
    isPast,
    // To keep the memory with the external id costs nothing; to find a similar one costs a call, for the embedding.
    isPaid: ({ outcome }) => outcome !== "KEPT" || onSimilar === "keep",
    needsEmbedding: above !== undefined,
    precheck: async (view) => {
      const { existing } = await checkStore(view, storeOptions);
      const keeps = storeOptions.onConflict === "keep";
      return keeps && existing !== undefined ? answerWithOutcome(existing.entry, undefined) : undefined;
    },
    entryIn: async ({ replica, embedding, nowMs, timer, signal }) => {
      const memory: Stored = {
        ...memoryOf(embedding, nowMs),
        ...(externalId !== undefined && { externalId }),
        ...(expiresAtMs !== undefined && { expiresAtMs }),
      };
      if (above !== undefined) {
        const decides = onSimilar !== "store";
        const to = { memory, above, decides, except: supersedes, timer, signal };
        similar = new SimilarMemories(replica, to);
        await similar.search();
      }
      return {
        opId: id,
        bytes: weightOf(memory),
        decide: async (before) => {
          const view = { ...before, nowMs };
          const alike = onSimilar === "store" ? undefined : await similar?.mostSimilar(view);
          if (alike === undefined) return decideStore(view, memory, storeOptions);
          if (onSimilar === "keep") return { existing: alike.entry };
          const conditions = { ...storeOptions, supersedes: [...supersedes, alike.entry.id] };
          return decideStore(view, memory, conditions);
        },
      };
    },
    answer: async (existing) => {
      const answered = answerWithOutcome(asMemory(existing), id);
      const own = onSimilar === "keep" ? undefined : answered.id;
      return { ...answered, ...(similar && { similar: similar.listedBeside(own) }) };
    },
  };
}

/** The answer of a store without options, from the entry in the log: the same for all attempts at it. */
function answerOf(existing: Entry<"header">): Answered {
  const { id, tokens, createdAtMs } = asMemory(existing);
  return { id, tokens, createdAtMs };
}

/** The answer of a store with options; `operation` is the store's id, undefined if it has written nothing. */
function answerWithOutcome(
  existing: Pick<MemoryHeader, "opId" | "id" | "tokens" | "createdAtMs">,
  operation: string | undefined,
): Answered {
  const { opId, id, tokens, createdAtMs } = existing;
  const outcomeForOthers = opId === operation ? "REPLACED" : "KEPT";
  const outcome = id === operation ? "CREATED" : outcomeForOthers;
  return { id, tokens, createdAtMs, outcome, etag: etagOf(existing) };
}

/** Expects that an entry is a memory, or what remains of one. */
function asMemory(existing: Entry<"header">): MemoryHeader | Erased {
  if (existing.op === "store" || existing.op === "erased") return existing;
  throw new MemoryError("internal", "another entry was appended in place of a memory");
}
