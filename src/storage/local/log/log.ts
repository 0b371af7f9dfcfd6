import { randomBytes } from "node:crypto";
import type { Database, RootDatabase } from "lmdb";
import { Budget } from "../../../concurrency/budget.js";
import { TimeSlice } from "../../../concurrency/time-slices.js";
import { yieldToEventLoop } from "../../../concurrency/yield-to-event-loop.js";
import { inSlices, SLICE_BYTES_MAX, Slice, weightOf } from "../../../memory/ports/bounds.js";
import type {
  Entry,
  Expiring,
  Fetched,
  Listed,
  Log,
  Measured,
  Named,
  NamespaceHead,
  Projected,
  Projection,
  Range,
  Replacement,
  Scope,
  Sequenced,
  Sequences,
  SupersedingOrExpiring,
  Tail,
} from "../../../memory/ports/log.js";
import { FIRST_MODEL_VERSION, inModelVersion } from "../../../memory/ports/model-version.js";
import { durably, reading, WRITE_TIMEOUT_MS } from "../durably.js";
import { Entries } from "./entries.js";

type NameKey = [accountId: string, namespace: string];

/** Maximum number of waiting writes; each is of another namespace, or a deletion. */
const WRITES_WAITING_MAX = 10_000;
/** Weight of erasing one entry: it takes about as long as writing this many bytes. */
const ERASE_BYTES = 65_536;

export class LocalLog implements Log {
  /** Logs by their names, in the order of the names' bytes. */
  readonly #names: Database<string, NameKey>;
  readonly #scopes: Database<NameKey, string>;
  readonly #entries: Entries;
  /** Latest append to each log that is not on the disk yet. */
  readonly #appending = new Map<string, Promise<number>>();
  /** Pause after a long read, so that other work runs first. */
  #rest: Promise<void> | undefined;
  /** Limit for waiting transactions: they run together, and nothing else runs meanwhile. */
  readonly #writes = new Budget({
    max: SLICE_BYTES_MAX,
    waitingMax: WRITES_WAITING_MAX,
    waitMs: WRITE_TIMEOUT_MS,
    what: "writes",
  });

  constructor(
    root: RootDatabase,
    /** Called before each append, to queue what must be on the disk no later than its entries. */
    private readonly options: { beforeAppend(): void },
  ) {
    this.#names = root.openDB("namespaces", { encoding: "string" });
    this.#scopes = root.openDB("scopes", { encoding: "json" });
    this.#entries = new Entries(root);
  }

  async find(scope: Scope): Promise<string | undefined> {
    return reading(() => this.#names.get(keyOf(scope)));
  }

  async create(scope: Scope, modelVersion = FIRST_MODEL_VERSION): Promise<string> {
    const found = await this.find(scope);
    if (found !== undefined) return found;
    return durably(this.#names, () => {
      const others = this.#names.get(keyOf(scope));
      if (others !== undefined) return others;
      const logId = inModelVersion(randomBytes(10).toString("hex"), modelVersion);
      this.#name(scope, logId);
      return logId;
    });
  }

  async rename(scope: Scope, { from, to }: { from: string; to: string }): Promise<void> {
    await durably(this.#names, () => {
      if (this.#names.get(keyOf(scope)) !== from) return;
      this.#scopes.removeSync(from);
      this.#name(scope, to);
    });
  }

  async retire(scope: Scope, logId: string): Promise<void> {
    await durably(this.#names, () => {
      if (this.#names.get(keyOf(scope)) !== logId) return;
      this.#names.removeSync(keyOf(scope));
      this.#scopes.removeSync(logId);
    });
  }

  #name(scope: Scope, logId: string): void {
    this.#names.putSync(keyOf(scope), logId);
    this.#scopes.putSync(logId, keyOf(scope));
  }

  async scopeOf(logId: string): Promise<Scope | undefined> {
    const key = reading(() => this.#scopes.get(logId));
    return key && scopeOf(key);
  }

  async names({ after, limit }: { after?: Scope | undefined; limit: number }): Promise<Named[]> {
    const range = { limit, ...(after && { start: keyOf(after), exclusiveStart: true }) };
    const found = reading(() => [...this.#names.getRange(range)]);
    return found.map(({ key, value }) => ({ scope: scopeOf(key), logId: value }));
  }

  async list({ accountId, after = "", prefix = "", limit }: Listed): Promise<NamespaceHead[]> {
    const begins = Buffer.compare(Buffer.from(after), Buffer.from(prefix)) < 0;
    const start: NameKey = [accountId, begins ? prefix : after];
    return reading(() => {
      const heads: NamespaceHead[] = [];
      for (const { key, value } of this.#names.getRange({ start, exclusiveStart: !begins, limit })) {
        if (key[0] !== accountId || !key[1].startsWith(prefix)) break;
        heads.push({ namespace: key[1], logId: value });
      }
      return heads;
    });
  }

  async measure({ logId }: { logId: string }): Promise<Measured> {
    return this.#settled(logId, () => this.#entries.measure(logId));
  }

  async logIds({ after, limit }: { after: string; limit: number }): Promise<string[]> {
    return reading(() => this.#entries.logIds(after, limit));
  }

  async append({ logId, from, entries }: Parameters<Log["append"]>[0]): Promise<number> {
    let inserted = 0;
    for (const slice of inSlices(entries)) {
      const bytes = slice.reduce((sum, entry) => sum + weightOf(entry), 0);
      const batch = { logId, from: from + inserted, entries: slice };
      const appended = await this.#writes.run(bytes, () => this.#append(batch));
      inserted += appended;
      if (appended < slice.length) break;
    }
    return inserted;
  }

  async #append(batch: Parameters<Log["append"]>[0]): Promise<number> {
    const { logId } = batch;
    this.options.beforeAppend();
    const appending = durably(this.#entries.db, () => this.#entries.insert(batch));
    this.#appending.set(logId, appending);
    try {
      return await appending;
    } finally {
      if (this.#appending.get(logId) === appending) this.#appending.delete(logId);
    }
  }

  async read<W extends Projection>({ logId, from, limit, what }: Range<W>): Promise<Tail<W>> {
    while (this.#rest !== undefined) await this.#rest;
    const slice = new Slice<Entry<W>>(limit);
    const timeSlice = new TimeSlice();
    let complete = false;
    // At least one entry is read, however late this process is: a call that asks for one must get it.
    for (
      let sequence = from;
      !complete && !slice.isFull && !(timeSlice.isOver && sequence > from);
      sequence++
    ) {
      const entry = reading(() => this.#entries.get([logId, sequence], what));
      if (entry === undefined) complete = true;
      else slice.add(sequence, entry);
    }
    if (timeSlice.isOver) this.#restNow();
    return this.#settled(logId, () => ({ entries: slice.entries, complete }));
  }

  async last(logId: string): Promise<Sequenced<Entry<"head">> | undefined> {
    return this.#settled(logId, () => this.#entries.last(logId));
  }

  async fetch<W extends Projection>({
    logId,
    sequences,
    what,
  }: Sequences & { what: W }): Promise<Fetched<W>> {
    while (this.#rest !== undefined) await this.#rest;
    const downwards = [...sequences].sort((a, b) => b - a);
    const slice = new Slice<Projected[W]>();
    const timeSlice = new TimeSlice();
    let looked = 0;
    // At least one is read, as above.
    while (looked < downwards.length && !slice.isFull && !(timeSlice.isOver && looked > 0)) {
      const sequence = downwards[looked++] as number;
      const entry = reading(() => this.#entries.get([logId, sequence], what));
      if (entry?.op === "store") slice.add(sequence, entry as Projected[W]);
    }
    if (timeSlice.isOver) this.#restNow();
    return { found: slice.entries, rest: downwards.slice(looked) };
  }

  async locate({ logId, id }: { logId: string; id: string }): Promise<number | undefined> {
    return this.#settled(logId, () => this.#entries.locate(logId, id));
  }

  async findByOperation({
    logId,
    opIds,
  }: Parameters<Log["findByOperation"]>[0]): Promise<Map<string, number>> {
    return this.#settled(logId, () => this.#entries.findByOperation(logId, opIds));
  }

  async findByExternalId({
    logId,
    externalId,
  }: {
    logId: string;
    externalId: string;
  }): Promise<number | undefined> {
    return this.#settled(logId, () => this.#entries.relations.findByExternalId(logId, externalId));
  }

  async findReplacements({ logId, sequences }: Sequences): Promise<Replacement[]> {
    return this.#settled(logId, () => this.#entries.relations.findReplacements(logId, sequences));
  }

  async listSupersedingAndExpiring(
    request: Parameters<Log["listSupersedingAndExpiring"]>[0],
  ): Promise<SupersedingOrExpiring[]> {
    return reading(() => this.#entries.relations.listSupersedingAndExpiring(request));
  }

  async expired(request: Parameters<Log["expired"]>[0]): Promise<Expiring[]> {
    return reading(() => this.#entries.relations.expired(request));
  }

  async unerased(limit: number): Promise<{ logId: string; sequence: number }[]> {
    return reading(() => this.#entries.relations.unerased(limit));
  }

  async erase({ logId, sequences }: Sequences): Promise<void> {
    // Nothing else runs during a transaction, so each erases for a short time.
    for (let erased = 0; erased < sequences.length; ) {
      const rest = sequences.slice(erased);
      const erase = () => durably(this.#entries.db, () => this.#entries.eraseSome(logId, rest));
      erased += await this.#writes.run(rest.length * ERASE_BYTES, erase);
    }
  }

  /** Makes the next read wait until everything else has run; it holds nothing yet. */
  #restNow(): void {
    this.#rest = (this.#rest ?? Promise.resolve()).then(yieldToEventLoop);
    const rest = this.#rest;
    void rest.then(() => {
      if (this.#rest === rest) this.#rest = undefined;
    });
  }

  /** Waits until the disk has what was read: a committed entry is visible before it is on the disk. */
  async #settled<T>(logId: string, read: () => T): Promise<T> {
    const found = reading(read);
    await this.#appending.get(logId);
    return found;
  }
}

function keyOf({ accountId, namespace }: Scope): NameKey {
  return [accountId, namespace];
}

function scopeOf([accountId, namespace]: NameKey): Scope {
  return { accountId, namespace };
}
