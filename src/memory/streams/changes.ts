import type { Entry, Log, Seen } from "../ports/log.js";

/** Change of a namespace, as its users see an entry of its log. */
export type Change =
  | { readonly kind: "stored"; readonly memory: Seen["text"] }
  | { readonly kind: "deleted"; readonly id: string }
  | { readonly kind: "dropped" };

/**
 * Translates an entry; undefined if it changes nothing that a user sees. A memory that was erased is none:
 * its tombstone follows. A move is none either: the copy has the same entries under the same numbers.
 *
 * `idOf` answers the id of the memory with a number, whether it was erased or not.
 */
export async function changeOf(
  entry: Entry<"text">,
  idOf: (sequence: number) => Promise<string | undefined>,
): Promise<Change | undefined> {
  switch (entry.op) {
    case "store":
      return { kind: "stored", memory: entry };
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

/** Lists the numbers of the earlier memories that an entry ends. */
export function endedBy(entry: Entry<"head">): readonly number[] {
  switch (entry.op) {
    case "delete":
      return [entry.target];
    case "store":
    case "drop":
    case "erased":
    case "moved":
    case "lost":
      return [];
  }
}

/** Finds the id of the memory with this number, or of what is left of it; undefined if nothing tells it. */
export async function idAt(
  log: Pick<Log, "read">,
  { logId, sequence }: { logId: string; sequence: number },
): Promise<string | undefined> {
  const { entries } = await log.read({ logId, from: sequence, limit: 1, what: "head" });
  const entry = entries[0]?.entry;
  if (entry?.op !== "store" && entry?.op !== "erased") return undefined;
  // What replaced a lost entry in a copy has no id.
  return entry.id === "" ? undefined : entry.id;
}
