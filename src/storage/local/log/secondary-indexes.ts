import type { Database, RootDatabase } from "lmdb";
import { byteLengthOf } from "../../../memory/ports/bounds.js";
import type { Appended, Measured, Sequences, Stored } from "../../../memory/ports/log.js";
import type {
  Expiring,
  Replacement,
  SecondaryIndexes,
  SupersedingOrExpiring,
  VersionAt,
} from "../../../memory/ports/secondary-indexes.js";
import { reading } from "../durably.js";
import type { Entries, Key } from "./entries.js";

type IdKey = [logId: string, id: string];
/** Sequence of a memory, and the length of its text and metadata, so that the count changes without reading an entry. */
type SequenceAndBytes = [sequence: number, bytes: number];
type Link = [sequence: number, how: Replacement["how"], id: string];
type Request<M extends keyof SecondaryIndexes> = Parameters<SecondaryIndexes[M]>[0];

/** The fields of a memory that the indexes hold. */
interface Indexed extends Pick<Stored, "id" | "supersedes" | "expiresAtMs"> {
  readonly externalId?: string | undefined;
}

/** Replaces the length after the memory is erased: no other memory may ever take its id in this log. */
const ERASED = -1;
/** Replaces the length in the row of an operation that wrote a later version of a memory. */
const OPERATION = -2;

/** Indexes of the entries, which `insert` and `erase` change in the same transaction as the log. */
export class LocalSecondaryIndexes implements SecondaryIndexes {
  readonly #ids: Database<SequenceAndBytes, IdKey>;
  readonly #counts: Database<[memories: number, bytes: number], string>;
  /** The latest entry that replaced, superseded or deleted a memory that is not erased. */
  readonly #links: Database<Link, Key>;
  readonly #byExternalId: Database<number, [logId: string, externalId: string]>;
  readonly #supersedingOrExpiring: Database<Omit<SupersedingOrExpiring, "sequence">, Key>;
  readonly #expiring: Database<true, [expiresAtMs: number, logId: string, sequence: number]>;
  readonly #unerased: Database<true, Key>;

  constructor(
    root: RootDatabase,
    private readonly entries: Entries,
  ) {
    this.#ids = root.openDB("ids", { encoding: "json" });
    this.#counts = root.openDB("counts", { encoding: "json" });
    this.#links = root.openDB("links", { encoding: "json" });
    this.#byExternalId = root.openDB("external-ids", { encoding: "json" });
    this.#supersedingOrExpiring = root.openDB("superseding-or-expiring", { encoding: "json" });
    this.#expiring = root.openDB("expiring", { encoding: "json" });
    this.#unerased = root.openDB("unerased", { encoding: "json" });
  }

  /** Must run in the transaction that inserts the entry. */
  insert([logId, sequence]: Key, entry: Appended): void {
    if (entry.op === "delete") this.#link([logId, entry.target], [sequence, "deleted", ""]);
    if (entry.op !== "store" && entry.op !== "erased") return;
    const { id, opId, replaces, supersedes } = entry;
    // In a copy, what replaces a lost entry has no id.
    if (id !== "") this.#putId([logId, id], [sequence, entry.op === "store" ? byteLengthOf(entry) : ERASED]);
    if (opId !== id) this.#ids.putSync([logId, opId], [sequence, OPERATION]);
    for (const target of supersedes ?? []) this.#link([logId, target], [sequence, "superseded", id]);
    if (replaces !== undefined) this.#link([logId, replaces], [sequence, "replaced", id]);
    const { externalId, expiresAtMs } = entry as Partial<Stored>;
    if (externalId !== undefined) this.#byExternalId.putSync([logId, externalId], sequence);
    if (expiresAtMs !== undefined) this.#expiring.putSync([expiresAtMs, logId, sequence], true);
    if (expiresAtMs === undefined && !supersedes?.length) return;
    const both = { ...(supersedes && { supersedes }), ...(expiresAtMs !== undefined && { expiresAtMs }) };
    this.#supersedingOrExpiring.putSync([logId, sequence], both);
  }

  /** Removes what an erased memory no longer says. Must run in the transaction that erases it. */
  erase(key: Key, { id, externalId, expiresAtMs, supersedes }: Indexed): void {
    const [logId, sequence] = key;
    // A later version of the memory may be there.
    if (this.#locate([logId, id]) === sequence) this.#putId([logId, id], [sequence, ERASED]);
    this.#links.removeSync(key);
    this.#unerased.removeSync(key);
    if (externalId !== undefined && this.#byExternalId.get([logId, externalId]) === sequence) {
      this.#byExternalId.removeSync([logId, externalId]);
    }
    if (expiresAtMs === undefined) return;
    this.#expiring.removeSync([expiresAtMs, logId, sequence]);
    if (supersedes === undefined) this.#supersedingOrExpiring.removeSync(key);
    else this.#supersedingOrExpiring.putSync(key, { supersedes });
  }

  /**
   * Removes what an erased memory no longer says whose entry is damaged: the indexes are searched for its number. Must
   * run in the transaction that erases it.
   */
  eraseLost(key: Key): void {
    const [logId, sequence] = key;
    const isIts = ([at, bytes]: SequenceAndBytes) => at === sequence && bytes >= 0;
    this.erase(key, {
      id: keyIn(this.#ids, { logId, isIts }) ?? "",
      externalId: keyIn(this.#byExternalId, { logId, isIts: (at) => at === sequence }),
      ...this.#supersedingOrExpiring.get(key),
    });
  }

  /** Number of memories in all logs, without the erased ones. */
  get memories(): number {
    let memories = 0;
    for (const { value } of this.#counts.getRange()) memories += value[0];
    return memories;
  }

  /** Counts what a log holds, from the lengths that its ids have. */
  measure(logId: string): Measured {
    const [memories, bytes] = this.#counts.get(logId) ?? [0, 0];
    return { memories, bytes };
  }

  async locate({ logId, id }: Request<"locate">): Promise<number | undefined> {
    return this.entries.settled(logId, () => this.#locate([logId, id]));
  }

  async findByOperation({ logId, opIds }: Request<"findByOperation">): Promise<Map<string, number>> {
    return this.entries.settled(logId, () => {
      const numbers = new Map<string, number>();
      for (const opId of opIds) {
        const [sequence] = this.#ids.get([logId, opId]) ?? [];
        if (sequence !== undefined) numbers.set(opId, sequence);
      }
      return numbers;
    });
  }

  async findByExternalId({ logId, externalId }: Request<"findByExternalId">): Promise<number | undefined> {
    return this.entries.settled(logId, () => this.#byExternalId.get([logId, externalId]));
  }

  async findReplacements({ logId, sequences }: Sequences): Promise<Replacement[]> {
    return this.entries.settled(logId, () =>
      sequences.flatMap((target) => {
        const link = this.#links.get([logId, target]);
        return link === undefined ? [] : [{ target, sequence: link[0], how: link[1], id: link[2] }];
      }),
    );
  }

  async listSupersedingAndExpiring({
    logId,
    from,
    limit,
  }: Request<"listSupersedingAndExpiring">): Promise<SupersedingOrExpiring[]> {
    const range = { start: [logId, from] as Key, end: [logId, Number.MAX_SAFE_INTEGER] as Key, limit };
    const found = reading(() => [...this.#supersedingOrExpiring.getRange(range)]);
    return found.map(({ key, value }) => ({ sequence: key[1], ...value }));
  }

  async expired({ untilMs, after, limit }: Request<"expired">): Promise<Expiring[]> {
    const start: [number, string, number] = [
      after?.expiresAtMs ?? 0,
      after?.logId ?? "",
      after?.sequence ?? 0,
    ];
    const range = { start, exclusiveStart: after !== undefined, limit };
    return reading(() => {
      const found: Expiring[] = [];
      for (const [expiresAtMs, logId, sequence] of this.#expiring.getKeys(range)) {
        if (expiresAtMs > untilMs) break;
        found.push({ logId, sequence, expiresAtMs });
      }
      return found;
    });
  }

  async unerased({ logId = "", after, limit }: Request<"unerased">): Promise<VersionAt[]> {
    const start: Key = [after?.logId ?? logId, (after?.sequence ?? 0) + 1];
    const end: { end?: Key } = logId === "" ? {} : { end: [logId, Number.MAX_SAFE_INTEGER] };
    const keys = reading(() => [...this.#unerased.getKeys({ start, ...end, limit })]);
    return keys.map(([logId, sequence]) => ({ logId, sequence }));
  }

  #locate(key: IdKey): number | undefined {
    const [sequence, bytes = ERASED] = this.#ids.get(key) ?? [];
    return bytes < 0 ? undefined : sequence;
  }

  #putId(key: IdKey, row: SequenceAndBytes): void {
    const before = this.#ids.get(key);
    this.#ids.putSync(key, row);
    const [all, now, then] = [this.measure(key[0]), heldIn(row), heldIn(before)];
    const memories = all.memories + now.memories - then.memories;
    this.#counts.putSync(key[0], [memories, all.bytes + now.bytes - then.bytes]);
  }

  /** Links a memory to its successor, unless it is erased. One that is replaced or deleted is to be erased, also if damaged. */
  #link(target: Key, link: Link): void {
    const op = this.entries.get(target, "header")?.op;
    if (op === "store") this.#links.putSync(target, link);
    if (link[1] !== "superseded" && (op === "store" || op === "lost")) this.#unerased.putSync(target, true);
  }
}

function heldIn([, bytes]: SequenceAndBytes = [0, ERASED]): Measured {
  return bytes < 0 ? { memories: 0, bytes: 0 } : { memories: 1, bytes };
}

/** Finds the key in a log's part of an index whose value is the one that is looked for; it looks at all of them. */
function keyIn<V>(
  index: Database<V, IdKey>,
  { logId, isIts }: { logId: string; isIts: (value: V) => boolean },
): string | undefined {
  for (const { key, value } of index.getRange({ start: [logId, ""] })) {
    if (key[0] !== logId) return undefined;
    if (isIts(value)) return key[1];
  }
  return undefined;
}
