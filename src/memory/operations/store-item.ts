import { invalid, MemoryError } from "../../errors.js";
import { eraseEntry } from "../erasure/erase.js";
import type { Answered } from "../idempotency/idempotency.js";
import { weightOf } from "../ports/bounds.js";
import type { StoreOutcome } from "../ports/claims.js";
import type { Embedding } from "../ports/embedder.js";
import type { Entry, Erased, Projected, Stored } from "../ports/log.js";
import { type ContentsRequest, type ParsedContents, parseContents } from "../requests/handle-secrets.js";
import { parseSupersedes } from "../requests/id.js";
import { parseExternalId } from "../requests/namespace.js";
import { parseSimilarAbove } from "../requests/recall-options.js";
import { type Expiry, parseExpiry, parseTimeOfYears } from "../requests/times.js";
import type { Conditional } from "../versions/condition.js";
import { etagOf } from "../versions/current-version.js";
import { checkStore, decideStore, type OnConflict, type StoreConditions } from "./deciding.js";
import type { Ports } from "./ports.js";
import { SimilarMemories } from "./similar-memories.js";
import type { Item } from "./write.js";

/** Fields of a store beyond those of a memory. */
export interface StoreOptionsRequest {
  /** The caller's own id; empty means none. */
  readonly externalId?: string | undefined;
  readonly onConflict?: OnConflict | undefined;
  readonly expiry?: Expiry | undefined;
  readonly supersedes?: readonly string[] | undefined;
  /** Lowest score of the similar memories to list; none are listed if left out. */
  readonly similarAbove?: number | undefined;
  /** Action if a memory has that score; it is stored beside it if left out. */
  readonly onSimilar?: OnSimilar | undefined;
}

/** Action of a store if a memory that says the same is there. */
export type OnSimilar = "store" | "keep" | "supersede";

interface StoreOptions {
  readonly conditions: StoreConditions;
  readonly expiresAtMs: number | undefined;
  readonly similarAbove: number | undefined;
  readonly onSimilar: OnSimilar;
  /** The storeOptions as they were asked for, by which two requests are compared. */
  readonly asked: string;
}

/** Parses what a store asks for beyond a memory; undefined if it asks for nothing. */
function parseStoreOptions(request: StoreOptionsRequest, nowMs: number): StoreOptions | undefined {
  const { onConflict, expiry, onSimilar = "store" } = request;
  const externalId = parseExternalId(request.externalId ?? "");
  if (onConflict !== undefined && externalId === undefined) {
    throw invalid("on_conflict", "needs an external_id");
  }
  const supersedes = parseSupersedes(request.supersedes ?? []);
  const similarAbove = parseSimilarAbove(request.similarAbove);
  if (onSimilar !== "store" && similarAbove === undefined) throw invalid("on_similar", "needs similar_above");
  if (onSimilar !== "store" && externalId !== undefined) {
    throw invalid("on_similar", "cannot stand beside external_id, which has on_conflict");
  }
  const expiresAtMs = parseExpiry(expiry, nowMs);
  const asksNothing = externalId === undefined && expiry === undefined && similarAbove === undefined;
  if (asksNothing && supersedes.length === 0) return undefined;
  const asked = [externalId, onConflict, expiry, supersedes, request.similarAbove].map((it) => it ?? null);
  return {
    conditions: { externalId, onConflict: onConflict ?? "refuse", supersedes },
    expiresAtMs,
    similarAbove,
    onSimilar,
    // As it was before there was this action: keys of then are still good.
    asked: JSON.stringify(onSimilar === "store" ? asked : [...asked, onSimilar]),
  };
}

/** A memory to store as a request has it. */
export interface MemoryRequest extends StoreOptionsRequest, ContentsRequest {
  /** Time at which what it tells of happened, in milliseconds since 1970; when it is stored, if left out. */
  readonly eventAtMs?: number | undefined;
}

/** A memory to store. */
export interface ParsedMemory extends ParsedContents {
  readonly eventAtMs: number | undefined;
  /** Absent in a store that depends on nothing. */
  readonly storeOptions: StoreOptions | undefined;
  /** Share of the text's letters and emoji that the model can hardly read; absent if it reads at least half. */
  readonly unreadShare: number | undefined;
}

/** @throws MemoryError `invalid_argument` */
export function parseMemory(request: MemoryRequest, { modelVersions, clock, onSecret }: Ports): ParsedMemory {
  const contents = parseContents(request, { onSecret });
  const eventAtMs = parseTimeOfYears("event_time", request.eventAtMs);
  const asked = parseStoreOptions(request, clock.wallMs());
  const unreadShare = modelVersions.unreadShare(contents.text);
  // Any two texts that the model can hardly read may be alike to it: none is given up for another.
  const storeOptions = asked && unreadShare !== undefined ? { ...asked, onSimilar: "store" as const } : asked;
  return { ...contents, eventAtMs, storeOptions, unreadShare };
}

/** Makes what is written for a memory to store; `id` is that of the operation. */
export function storeItem(
  ports: Ports,
  { id, text, metadata, eventAtMs, storeOptions }: ParsedMemory & { readonly id: string },
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
      isPaid: () => true,
      entryIn: ({ embedding, nowMs }) => memoryOf(embedding, nowMs),
      answer: async ({ existing }) => answerOf(existing),
    };
  }
  const { similarAbove: above, conditions, onSimilar } = storeOptions;
  let similar: SimilarMemories | undefined;
  return {
    id,
    text,
    // One that finds a similar memory costs a call, because its text was embedded.
    isPaid: ({ outcome }) => outcome !== "KEPT" || onSimilar === "keep",
    look: async (view) => {
      const existing = await checkStore(view, conditions);
      return existing && answerByOptions(existing, { id: undefined });
    },
    entryIn: async ({ replica, embedding, nowMs, timer, signal }) => {
      const memory = memoryOf(embedding, nowMs);
      if (above !== undefined) {
        similar = await SimilarMemories.search(replica, {
          log: ports.log,
          memory,
          above,
          decides: onSimilar !== "store",
          except: conditions.supersedes,
          timer,
          signal,
        });
      }
      return conditionalOf(memory, { storeOptions, nowMs, similar });
    },
    answer: async ({ logId, existing: entry }) => {
      const existing = asMemory(entry);
      const answered = answerByOptions(existing, { id });
      if (answered.outcome === "REPLACED" && existing.replaces !== undefined) {
        await eraseEntry(ports, { logIds: [logId], sequence: existing.replaces });
      }
      const own = onSimilar === "keep" ? undefined : answered.id;
      return { ...answered, ...(similar && { similar: similar.listedBeside(own) }) };
    },
  };
}

/** Makes the condition under which a memory is appended. */
function conditionalOf(
  made: Stored,
  {
    storeOptions,
    nowMs,
    similar,
  }: { storeOptions: StoreOptions; nowMs: number; similar: SimilarMemories | undefined },
): Conditional {
  const { conditions, expiresAtMs, onSimilar } = storeOptions;
  const { externalId } = conditions;
  const memory: Stored = {
    ...made,
    ...(externalId !== undefined && { externalId }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
  return {
    opId: made.opId,
    bytes: weightOf(memory),
    decide: async (before) => {
      const view = { ...before, nowMs };
      const alike = onSimilar === "store" ? undefined : await similar?.mostSimilar(view);
      if (alike === undefined) return decideStore(view, { memory, conditions });
      if (onSimilar === "keep") return { existing: alike.entry };
      const supersedes = [...conditions.supersedes, alike.entry.id];
      return decideStore(view, { memory, conditions: { ...conditions, supersedes } });
    },
  };
}

/** Makes the answer from the log's entry: all attempts answer what the first that arrived has written. */
export function answerOf(existing: Entry<"head">): Answered {
  const { id, tokens, createdAtMs } = asMemory(existing);
  return { id, tokens, createdAtMs };
}

/** The same for a store with options; `id` is that of the operation. */
export function answerByOptions(
  existing: Pick<Projected["head"], "opId" | "id" | "tokens" | "createdAtMs">,
  { id }: { id: string | undefined },
): Answered {
  const { tokens, createdAtMs } = existing;
  return { id: existing.id, tokens, createdAtMs, outcome: outcomeOf(existing, id), etag: etagOf(existing) };
}

/** Expects that an entry is a memory, or what remains of one. */
export function asMemory(existing: Entry<"head">): Projected["head"] | Erased {
  if (existing.op === "store" || existing.op === "erased") return existing;
  throw new MemoryError("internal", "another entry was appended in place of a memory");
}

function outcomeOf(
  { opId, id }: Pick<Projected["head"], "opId" | "id">,
  operation: string | undefined,
): StoreOutcome {
  if (id === operation) return "CREATED";
  return opId === operation ? "REPLACED" : "KEPT";
}
