import type { Database, RootDatabase } from "lmdb";
import type {
  Appended,
  Entry,
  Expiring,
  Log,
  Projected,
  Replacement,
  SupersedingOrExpiring,
} from "../../../memory/ports/log.js";

export type Key = [logId: string, sequence: number];
type Link = [sequence: number, how: Replacement["how"], id: string];

/**
 * Indexes of what entries do to others and of what they say about themselves, in the same transaction as the
 * log. Every write must run in a transaction.
 */
export class Relations {
  /** The latest entry that replaced, superseded or deleted a memory that is not erased. */
  readonly #links: Database<Link, Key>;
  readonly #byExternalId: Database<number, [logId: string, externalId: string]>;
  readonly #supersedingOrExpiring: Database<Omit<SupersedingOrExpiring, "sequence">, Key>;
  readonly #expiring: Database<true, [expiresAtMs: number, logId: string, sequence: number]>;
  readonly #unerased: Database<true, Key>;

  constructor(
    root: RootDatabase,
    /** True if a number is of a memory that is not erased. */
    private readonly isMemory: (key: Key) => boolean,
  ) {
    this.#links = root.openDB("links", { encoding: "json" });
    this.#byExternalId = root.openDB("external-ids", { encoding: "json" });
    this.#supersedingOrExpiring = root.openDB("special", { encoding: "json" });
    this.#expiring = root.openDB("expiring", { encoding: "json" });
    this.#unerased = root.openDB("unerased", { encoding: "json" });
  }

  insert([logId, sequence]: Key, entry: Appended): void {
    if (entry.op === "delete") this.#link([logId, entry.target], [sequence, "deleted", ""]);
    if (entry.op !== "store" && entry.op !== "erased") return;
    const { id, replaces, supersedes = [] } = entry;
    for (const target of supersedes) this.#link([logId, target], [sequence, "superseded", id]);
    if (replaces !== undefined && this.#link([logId, replaces], [sequence, "replaced", id])) {
      this.#unerased.putSync([logId, replaces], true);
    }
    if (entry.op === "store") this.#label([logId, sequence], entry);
    if (supersedes.length > 0 || ("expiresAtMs" in entry && entry.expiresAtMs !== undefined)) {
      this.#supersedingOrExpiring.putSync([logId, sequence], supersedingOrExpiringOf(entry));
    }
  }

  /** Removes what an erased memory no longer says. */
  erase([logId, sequence]: Key, { externalId, expiresAtMs, supersedes }: Projected["head"]): void {
    const key: Key = [logId, sequence];
    this.#links.removeSync(key);
    this.#unerased.removeSync(key);
    if (externalId !== undefined && this.findByExternalId(logId, externalId) === sequence) {
      this.#byExternalId.removeSync([logId, externalId]);
    }
    if (expiresAtMs === undefined) return;
    this.#expiring.removeSync([expiresAtMs, logId, sequence]);
    if (supersedes === undefined) this.#supersedingOrExpiring.removeSync(key);
    else this.#supersedingOrExpiring.putSync(key, { supersedes });
  }

  findByExternalId(logId: string, externalId: string): number | undefined {
    return this.#byExternalId.get([logId, externalId]);
  }

  findReplacements(logId: string, targets: readonly number[]): Replacement[] {
    return targets.flatMap((target) => {
      const link = this.#links.get([logId, target]);
      return link === undefined ? [] : [{ target, sequence: link[0], how: link[1], id: link[2] }];
    });
  }

  listSupersedingAndExpiring({
    logId,
    from,
    limit,
  }: Parameters<Log["listSupersedingAndExpiring"]>[0]): SupersedingOrExpiring[] {
    const range = { start: [logId, from] as Key, end: [logId, Number.MAX_SAFE_INTEGER] as Key, limit };
    return [...this.#supersedingOrExpiring.getRange(range)].map(({ key, value }) => ({
      sequence: key[1],
      ...value,
    }));
  }

  expired({ untilMs, after, limit }: Parameters<Log["expired"]>[0]): Expiring[] {
    const found: Expiring[] = [];
    const { expiresAtMs = 0, logId = "", sequence = 0 } = after ?? {};
    const start: [number, string, number] = [expiresAtMs, logId, sequence];
    const range = { start, exclusiveStart: after !== undefined, limit };
    for (const [atMs, ...place] of this.#expiring.getKeys(range)) {
      if (atMs > untilMs) break;
      found.push({ logId: place[0], sequence: place[1], expiresAtMs: atMs });
    }
    return found;
  }

  unerased(limit: number): { logId: string; sequence: number }[] {
    return [...this.#unerased.getKeys({ limit })].map(([logId, sequence]) => ({ logId, sequence }));
  }

  /** Links a memory to its successor, unless it is erased; true if it did. */
  #link(target: Key, link: Link): boolean {
    if (!this.isMemory(target)) return false;
    this.#links.putSync(target, link);
    return true;
  }

  #label([logId, sequence]: Key, { externalId, expiresAtMs }: Projected["head"]): void {
    if (externalId !== undefined) this.#byExternalId.putSync([logId, externalId], sequence);
    if (expiresAtMs !== undefined) this.#expiring.putSync([expiresAtMs, logId, sequence], true);
  }
}

function supersedingOrExpiringOf(entry: Entry<"head">): Omit<SupersedingOrExpiring, "sequence"> {
  const { supersedes, expiresAtMs } = entry as Projected["head"];
  return { ...(supersedes && { supersedes }), ...(expiresAtMs !== undefined && { expiresAtMs }) };
}
