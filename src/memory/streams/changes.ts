import { type Entry, forgottenBy, type Log, type Projected } from "../ports/log.js";
import type { SecondaryIndexes } from "../ports/secondary-indexes.js";
import { isExpired } from "../versions/current-version.js";

/** Change of a namespace, as its users see an entry of its log. */
export type Change =
  | { readonly kind: "stored"; readonly memory: Projected["text"] }
  | { readonly kind: "deleted"; readonly id: string }
  | { readonly kind: "dropped" };

interface ChangeOptions {
  /** Time by which memories have expired. */
  readonly nowMs: number;
  /** Returns the id of the memory whose present version has a number, whether it was erased or not. */
  idOf(sequence: number): Promise<string | undefined>;
}

/**
 * Translates an entry; undefined if it changes nothing that a user sees. A memory that was erased is none:
 * its tombstone or its next version follows. One that has expired is none, and its tombstone follows, too. A
 * move is none either: the copy has the same entries under the same numbers.
 */
export async function changeOf(
  entry: Entry<"text">,
  { nowMs, idOf }: ChangeOptions,
): Promise<Change | undefined> {
  switch (entry.op) {
    case "store":
      return isExpired(entry, nowMs) ? undefined : { kind: "stored", memory: entry };
    case "delete": {
      const id = await idOf(entry.target);
      return id === undefined ? undefined : { kind: "deleted", id };
    }
    case "drop":
      return { kind: "dropped" };
    case "erased":
    case "moved":
    case "lost":
      return undefined;
  }
}

/** Lists the numbers of the earlier memories that an entry deletes, replaces or supersedes. */
export function endedBy(entry: Entry<"head">): readonly number[] {
  const forgotten = forgottenBy(entry);
  const supersedes = entry.op === "store" || entry.op === "erased" ? (entry.supersedes ?? []) : [];
  return forgotten === undefined ? supersedes : [forgotten, ...supersedes];
}

/**
 * Finds the id of the memory that a tombstone deletes; undefined if nothing tells it, or if another version had
 * taken the place of the deleted one before.
 */
export async function idAt(
  { log, secondaryIndexes }: { readonly log: Log; readonly secondaryIndexes: SecondaryIndexes },
  { logId, sequence, tombstone }: { logId: string; sequence: number; tombstone: number },
): Promise<string | undefined> {
  const { entries } = await log.read({ logId, from: sequence, limit: 1, what: "head" });
  const entry = entries[0]?.entry;
  if (entry?.op !== "store" && entry?.op !== "erased") return undefined;
  const { id } = entry;
  // What replaced a lost entry in a copy has no id.
  if (id === "") return undefined;
  const present = await secondaryIndexes.locate({ logId, id });
  return present !== undefined && present > sequence && present < tombstone ? undefined : id;
}
