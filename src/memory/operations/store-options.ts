import { invalid } from "../../errors.js";
import { type Expiry, parseExpiry } from "../requests/expiry.js";
import { parseExternalId } from "../requests/external-id.js";
import { parseSimilarAbove } from "../requests/floors.js";
import { parseSupersedes } from "../requests/id.js";
import type { OnConflict, StoreConditions } from "../versions/deciding-stores.js";

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

export interface StoreOptions {
  readonly conditions: StoreConditions;
  readonly expiresAtMs: number | undefined;
  readonly similarAbove: number | undefined;
  readonly onSimilar: OnSimilar;
  /** The storeOptions as they were asked for, by which two requests are compared. */
  readonly asked: string;
}

/** Parses what a store asks for beyond a memory; undefined if it asks for nothing. */
export function parseStoreOptions(request: StoreOptionsRequest, nowMs: number): StoreOptions | undefined {
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
