import { MemoryError } from "../../src/errors.js";
import { Pins } from "../../src/memory/models/pin.js";
import type { StoredMemory } from "../../src/memory/operations/store-item.js";
import type { Result } from "../../src/memory/operations/write.js";
import type { ModelIdentity } from "../../src/memory/ports/embedder.js";
import { type Entry, forgottenBy, isEnd } from "../../src/memory/ports/log.js";
import { modelVersionOf } from "../../src/memory/ports/model-version.js";
import { type Bill, Bills } from "./bills.js";
import type { Database } from "./database.js";
import type { VirtualTime } from "./time.js";

/** Time after which what has expired must be erased: a sweep comes every minute. */
const EXPIRED_MS = 120_000;

/** A namespace with its account, as one string. */
export type Name = string;

/** A version of a memory. Its text is like no other's. */
interface Version {
  readonly name: Name;
  readonly text: string;
  /** Id in the earliest answer; of an update, that of its memory. */
  id?: string;
  readonly externalId?: string | undefined;
  readonly expiresMs?: number | undefined;
  readonly onSimilar?: "keep" | "supersede" | undefined;
  /** True for an update, which expires when the version before it does. */
  readonly isUpdate?: boolean;
  readonly startedMs: number;
  storedMs?: number;
  /** True if its callers were told that nothing is stored. */
  refused?: boolean;
}

/** Something that removes or hides one memory for good. */
interface Removal {
  readonly how: "deleted" | "superseded";
  readonly name: Name;
  readonly id: string;
  readonly startedMs: number;
  doneMs?: number;
}

/** Something that removes what a namespace, several of an account, or a filter holds. */
interface Drop {
  holds(version: Pick<Version, "name" | "externalId">): boolean;
  readonly startedMs: number;
  droppedMs?: number;
}

/** A mark that was added to the metadata of memories: of those with some ids, or of all if there are none. */
interface Marking {
  readonly name: Name;
  readonly mark: string;
  readonly ids: readonly string[];
}

/** A recalled memory; `words` is its share of the query's words, if they were asked for. */
interface Recalled {
  readonly id: string;
  readonly text: string;
  readonly words?: number | undefined;
}

/** Time of a recall. */
interface Span {
  readonly startedMs: number;
  readonly endedMs: number;
}

/** A memory to store. */
export interface Storing {
  readonly name: Name;
  readonly text: string;
  readonly externalId?: string;
  readonly expiresMs?: number;
  readonly supersedes?: readonly string[];
  readonly onSimilar?: "keep" | "supersede";
}

interface StoreAnswer {
  readonly stored: { readonly id: string; readonly outcome?: string };
  readonly replayed: boolean;
  /** Ids of the memories that it superseded because they are similar. */
  readonly superseded?: readonly string[];
}

interface BatchAnswer {
  readonly results: readonly Result<StoredMemory>[];
  readonly replayed: boolean;
}

/** An attempt to store a memory, and what it supersedes. */
interface Tried {
  readonly version: Version;
  readonly removals: Removal[];
  readonly startedMs: number;
}

/** Callers' requests and answers, and what callers may therefore expect. */
export class History {
  /** Versions of all memories, by text. */
  readonly #versions = new Map<string, Version>();
  readonly #removals: Removal[] = [];
  readonly #drops: Drop[] = [];
  readonly #markings: (Marking & { readonly failed: readonly string[]; readonly startedMs: number })[] = [];
  /** What stores of texts may supersede, because it is similar. */
  readonly #mayBeSuperseded = new Map<string, Drop>();
  /** First promise that was broken, even if the call that saw it was abandoned. */
  #broken: Error | undefined;
  readonly #bills = new Bills();
  #recalls = 0;

  /** `clockErrorMs` is the time by which the clocks of processes are wrong at most. */
  constructor(
    private readonly time: VirtualTime,
    private readonly clockErrorMs: number,
  ) {}

  async storing(
    operation: Storing,
    work: (bill: Bill<Pick<StoreAnswer, "stored" | "replayed">>) => Promise<StoreAnswer>,
  ): Promise<void> {
    const tried = this.#try(operation);
    if (operation.onSimilar === "supersede") this.#maySupersede(tried.version);
    const texts = [operation.text];
    // One that keeps a similar memory was embedded, and costs a call, unless it repeats what an attempt has kept that
    // failed, and so was refunded.
    const bill = this.#bills.open(texts, ({ stored, replayed }: Pick<StoreAnswer, "stored" | "replayed">) =>
      stored.outcome !== "KEPT" || (operation.onSimilar === "keep" && !replayed) ? texts : [],
    );
    const { stored: answered, superseded = [] } = await work(bill);
    this.#take(tried, answered);
    this.#hasSuperseded(tried.version, superseded);
  }

  /** Notes that a store may supersede any memory of its namespace, until an answer says which. */
  #maySupersede({ name, text, startedMs }: Version): void {
    if (this.#mayBeSuperseded.has(text)) return;
    const any: Drop = { holds: (version) => version.name === name, startedMs };
    this.#mayBeSuperseded.set(text, any);
    this.#drops.push(any);
  }

  #hasSuperseded({ name, text, startedMs }: Version, ids: readonly string[]): void {
    const any = this.#mayBeSuperseded.get(text);
    const i = any === undefined ? -1 : this.#drops.indexOf(any);
    // Another attempt was answered before.
    if (i < 0) return;
    this.#drops.splice(i, 1);
    for (const id of ids) {
      const removal: Removal = { how: "superseded", name, id, startedMs };
      this.#removals.push(removal);
      this.#finish(removal, text);
    }
  }

  /** Stores several memories in one call, each of which may fail by itself. */
  async storingBatch(
    items: readonly Storing[],
    work: (bill: Bill<BatchAnswer>) => Promise<BatchAnswer>,
  ): Promise<void> {
    const tried = items.map((each) => this.#try(each));
    const texts = items.map(({ text }) => text);
    const isOwed = (result: Result<StoredMemory>) => "stored" in result && result.stored.outcome !== "KEPT";
    const bill = this.#bills.open(texts, ({ results }: BatchAnswer) =>
      texts.filter((_, i) => isOwed(results[i] as Result<StoredMemory>)),
    );
    const { results } = await work(bill);
    for (const [i, result] of results.entries()) {
      const each = tried[i] as Tried;
      if (!("stored" in result)) continue;
      this.#take(each, result.stored);
    }
  }

  /** Notes that an attempt to store a memory begins. */
  #try({ supersedes = [], ...described }: Storing): Tried {
    const startedMs = this.time.nowMs;
    const version = this.#versions.get(described.text) ?? { ...described, startedMs };
    this.#versions.set(version.text, version);
    const { name } = described;
    // An attempt that is answered may tell of what the first one stored.
    const since = { startedMs: version.startedMs };
    const removals = supersedes.map((id) => ({ how: "superseded" as const, name, id, ...since }));
    this.#removals.push(...removals);
    return { version, removals, startedMs };
  }

  /** Notes what an attempt was answered. */
  #take({ version, removals, startedMs }: Tried, answered: StoreAnswer["stored"]): void {
    const isFirst = version.storedMs === undefined;
    if (answered.outcome === "KEPT") {
      // The memory that was there is the answer, and this text is stored nowhere.
      this.#checkPresent(answered.id, startedMs);
      version.refused = isFirst;
      return;
    }
    this.#checkId(version, answered.id);
    // An earlier attempt may have kept another memory.
    version.refused = false;
    version.storedMs ??= this.time.nowMs;
    if (isFirst) for (const removal of removals) this.#finish(removal, version.text);
  }

  /** Gives a memory another text. */
  async updating(
    { name, text, id }: { name: Name; text: string; id: string },
    work: (bill: Bill) => Promise<unknown>,
  ): Promise<void> {
    const startedMs = this.time.nowMs;
    const before = [...this.#versions.values()].find((each) => each.id === id);
    const tried = this.#versions.get(text);
    const version = tried ?? { name, text, id, externalId: before?.externalId, isUpdate: true, startedMs };
    this.#versions.set(text, version);
    try {
      await work(this.#bills.open([text], () => [text]));
    } catch (error) {
      this.#checkMissing(error, { id, text, span: { startedMs, endedMs: this.time.nowMs } });
      // Another attempt may have stored what this one was refused.
      version.refused = tried === undefined && version.storedMs === undefined && isRefusal(error);
      throw error;
    }
    version.refused = false;
    version.storedMs ??= this.time.nowMs;
    const firstMs = version.startedMs;
    const gone = this.#removals.find((each) => each.id === id && (each.doneMs ?? Infinity) < firstMs);
    if (gone !== undefined) this.#break(`${text} updated a memory that was ${gone.how} before`);
    if (this.#hasExpired(version, firstMs - this.clockErrorMs))
      this.#break(`${text} updated what had expired`);
  }

  /** Checks that a memory which a store keeps was not gone before. */
  #checkPresent(id: string, startedMs: number): void {
    const versions = [...this.#versions.values()].filter((each) => each.id === id);
    // One that was superseded keeps its external id.
    const isGone = (each: Version) => this.#mustBeHidden(each, startedMs, { superseded: true });
    if (versions.length === 0 || !versions.every(isGone)) return;
    this.#break(`${versions[0]?.text} was kept at ${startedMs}, and forgotten before`);
  }

  /** Checks that a call which finds no memory was right. */
  #checkMissing(error: unknown, { id, text, span }: { id: string; text: string; span: Span }): void {
    if (!(error instanceof MemoryError && error.code === "not_found")) return;
    const versions = [...this.#versions.values()].filter((each) => each.id === id);
    if (versions.some((each) => this.#isPresent(each, span)))
      this.#break(`${text} found no memory at ${span.startedMs}–${span.endedMs}, which is there`);
  }

  #checkId(version: Version, id: string): void {
    if (version.id !== undefined && version.id !== id)
      this.#break(`${version.text} was stored as two memories`);
    version.id = id;
  }

  /** Picks the id of a memory that a caller knows of; 0 picks the latest. */
  pick(name: Name, chance: number): string | undefined {
    const known = [...this.#versions.values()].filter((each) => each.name === name && each.id !== undefined);
    return known.at(-1 - Math.floor(chance * known.length))?.id;
  }

  async deleting(
    { name, chance }: { name: Name; chance: number },
    work: (id: string) => Promise<void>,
  ): Promise<void> {
    const id = this.pick(name, chance);
    if (id === undefined) return;
    const removal: Removal = { how: "deleted", name, id, startedMs: this.time.nowMs };
    this.#removals.push(removal);
    await work(id);
    removal.doneMs = this.time.nowMs;
  }

  /** Marks memories; `work` finds the ids of those that could not be marked. */
  async marking(marking: Marking, work: () => Promise<readonly string[]>): Promise<void> {
    const startedMs = this.time.nowMs;
    this.#markings.push({ ...marking, failed: await work(), startedMs });
  }

  async dropping(holds: Drop["holds"], work: () => Promise<unknown>): Promise<void> {
    const drop: Drop = { holds, startedMs: this.time.nowMs };
    this.#drops.push(drop);
    await work();
    drop.droppedMs = this.time.nowMs;
  }

  /** Checks a recall that shows everything in its namespace. */
  async recalling(name: Name, work: (bill: Bill) => Promise<Recalled[]>): Promise<void> {
    const startedMs = this.time.nowMs;
    const recall = [`recall ${this.#recalls++}`];
    const results = await work(this.#bills.open(recall, () => recall));
    const span = { startedMs, endedMs: this.time.nowMs };
    this.#checkRecalled(name, results, span);
    this.#checkIds(name, new Set(results.map(({ id }) => id)), span);
    this.check();
  }

  /** Checks an export with vectors. What is replaced meanwhile is in it in no version. */
  async exporting(name: Name, work: () => Promise<readonly string[]>): Promise<void> {
    const startedMs = this.time.nowMs;
    const [header, ...lines] = (await work()).map((line) => JSON.parse(line));
    lines.pop();
    for (const { text, vectors } of lines) {
      const model = Buffer.from(vectors[0], "base64").readFloatLE();
      if (model !== Number(header.model))
        this.#break(`${text} was exported by model ${model}, not ${header.model}`);
    }
    this.#checkRecalled(name, lines, { startedMs, endedMs: this.time.nowMs });
    this.check();
  }

  #checkRecalled(name: Name, results: readonly Recalled[], span: Span): void {
    const ids = new Map(results.map(({ text, id }) => [text, id]));
    const at = `${span.startedMs}–${span.endedMs}`;
    const unmatchedByWords = new Set(results.filter(({ words }) => words === 0).map(({ text }) => text));
    this.#checkOnce(results);
    for (const version of this.#versions.values()) {
      const { text, id } = version;
      const foundId = ids.get(text);
      if (version.name !== name) {
        if (foundId !== undefined) this.#break(`${text} was recalled from another namespace`);
      } else if (foundId === undefined && this.#mustBeVisible(version, span)) {
        this.#break(`${text} was stored at ${version.storedMs} and missing at ${at}`);
      } else if (foundId !== undefined && this.#mustBeHidden({ ...version, id: foundId }, span.startedMs)) {
        this.#break(`${text} was forgotten and found at ${at}`);
      } else if (foundId !== undefined && id !== undefined && id !== foundId) {
        this.#break(`${text} was recalled by another id than it was stored with`);
      } else if (unmatchedByWords.has(text) && this.#mustBeVisible(version, span)) {
        this.#break(`the words of ${text} were missing at ${at}`);
      }
    }
  }

  /** Checks that no memory is found twice, and no two with one external id. */
  #checkOnce(results: readonly Recalled[]): void {
    const external = results.flatMap(({ text }) => this.#versions.get(text)?.externalId ?? []);
    const all = [results.map(({ text }) => text), results.map(({ id }) => id), external];
    for (const each of all) if (new Set(each).size < each.length) this.#break(`${each} holds a memory twice`);
  }

  /** Checks that of each memory some version is visible, whichever of several updates came last. */
  #checkIds(name: Name, visible: ReadonlySet<string>, span: Span): void {
    for (const version of this.#versions.values()) {
      const { id } = version;
      if (version.name !== name || id === undefined || visible.has(id)) continue;
      if (this.#isPresent(version, span)) this.#break(`no version of ${version.text} was visible`);
    }
  }

  /** Checks everything in the database when nothing runs any more. */
  checkDatabase(db: Database): void {
    const living = new Set(db.heads.values());
    for (const [logId, log] of db.logs) {
      this.#checkLog(logId, { log, living: living.has(logId) });
      this.#checkCompared(logId, log, db.written);
      this.#checkVectors(logId, { log, model: new Pins(db.models).modelOf(modelVersionOf(logId)) });
    }
    for (const name of db.heads.keys()) {
      const [accountId = ""] = name.split(" ");
      if (!db.accounts.has(accountId)) this.#break(`${name} is left of an account that was closed`);
    }
    if (db.hasMixed) this.#break("two models met in one recall");
    if (db.erasures.size > 0) this.#break("an erasure was left over");
    this.#checkSuperseded(db);
    for (const wrong of this.#bills.wrong(db)) this.#break(wrong);
    this.check();
  }

  /**
   * Checks that numbers are dense and each memory occurs once, but for its older versions, of which nothing is
   * left. Only a drop may come between two entries of one memory: a store whose outcome was unknown is tried
   * again in the name's next log.
   */
  #checkLog(logId: string, { log, living }: { log: ReadonlyMap<number, Entry>; living: boolean }): void {
    const seen = new Map<string, number>();
    const operations = new Set<string>();
    const deleted = new Set<number>();
    for (let sequence = 1; sequence <= log.size; sequence++) {
      const entry = log.get(sequence);
      if (entry === undefined) this.#break(`${logId} has a hole at ${sequence}`);
      if (entry !== undefined && isEnd(entry) && sequence < log.size)
        this.#break(`${logId} goes on after its end`);
      if (entry?.op === "delete") deleted.add(entry.target);
      if (entry?.op !== "store" && entry?.op !== "erased") continue;
      const { id, opId, replaces } = entry;
      // An entry by which a copy was given up is of no memory.
      if (id === "") continue;
      if (operations.has(opId)) this.#break(`${logId} holds a write of ${id} twice`);
      operations.add(opId);
      if (deleted.has(replaces ?? 0)) this.#break(`${logId} has a version of ${id} after its tombstone`);
      if (seen.get(id) !== replaces) this.#break(`${id} is in ${logId} twice`);
      seen.set(id, sequence);
      if (replaces !== undefined && log.get(replaces)?.op === "store")
        this.#break(`${logId} still holds an older version of ${id}`);
      if (entry.op !== "store") continue;
      if (!living) this.#break(`${logId}, which nobody reads, still holds ${entry.text}`);
      const version = this.#versions.get(entry.text);
      if (version === undefined || this.#mustBeErased({ ...version, id })) {
        this.#break(`${logId} still holds ${entry.text}, which was forgotten`);
      }
      for (const mark of this.#marksOf(id)) {
        if (!(mark in JSON.parse(entry.metadata)))
          this.#break(`${logId} holds ${entry.text} without ${mark}`);
      }
    }
  }

  /** Finds the marks that a memory must have, which was there before and since. A store that replaces it takes them away. */
  #marksOf(id: string): string[] {
    const versions = [...this.#versions.values()].filter((each) => each.id === id);
    if (versions.some(({ externalId }) => externalId !== undefined)) return [];
    const done = this.#markings.filter(({ name, ids, failed, startedMs }) => {
      if (failed.includes(id) || (ids.length > 0 && !ids.includes(id))) return false;
      const span = { startedMs, endedMs: this.time.nowMs };
      return versions.some((each) => each.name === name && this.#isPresent(each, span));
    });
    return done.map(({ mark }) => mark);
  }

  /**
   * Checks that what was stored only if nothing similar is there, or in the place of that, stands behind nothing
   * that is visible: all texts are alike.
   */
  #checkCompared(logId: string, log: ReadonlyMap<number, Entry>, written: Database["written"]): void {
    const visible = new Map<number, string>();
    for (let sequence = 1; sequence <= log.size; sequence++) {
      const entry = log.get(sequence);
      if (entry === undefined) continue;
      const forgotten = forgottenBy(entry);
      if (forgotten !== undefined) visible.delete(forgotten);
      if ((entry.op !== "store" && entry.op !== "erased") || entry.id === "") continue;
      const { id, supersedes = [], replaces, tokens } = entry;
      const version = [...this.#versions.values()].find((each) => each.id === id && each.onSimilar);
      const isCompared = version !== undefined && replaces === undefined;
      if (isCompared && visible.size > 0 && (version.onSimilar === "keep" || supersedes.length === 0)) {
        this.#break(`${version.text} is in ${logId} beside ${[...visible.values()]}, which is similar`);
      }
      for (const each of supersedes) visible.delete(each);
      // When one that expires has gone cannot be seen in the log, nor what it replaced or superseded.
      // Its caller may have got no answer, and so not know its id.
      const texts = written.flatMap(({ bill, text }) => (bill === tokens ? text : []));
      const expires = [...this.#versions.values()].some(
        (each) => each.expiresMs && (each.id === id || texts.includes(each.text)),
      );
      if (!expires) visible.set(sequence, id);
    }
  }

  /** Checks that a log has vectors of its own model only: each consists of the model's number. */
  #checkVectors(
    logId: string,
    { log, model }: { log: ReadonlyMap<number, Entry>; model: ModelIdentity | undefined },
  ): void {
    for (const entry of log.values()) {
      if (entry.op === "store" && entry.vectors[0] !== Number(model?.id))
        this.#break(`${logId} holds ${entry.text} by model ${entry.vectors[0]}, not ${model?.id}`);
    }
  }

  /** Checks that superseded memories are still there. */
  #checkSuperseded(db: Database): void {
    const texts = new Set<string>();
    for (const log of db.logs.values())
      for (const entry of log.values()) if (entry.op === "store") texts.add(entry.text);
    const span = { startedMs: this.time.nowMs, endedMs: this.time.nowMs };
    for (const version of this.#versions.values()) {
      const isLast = version.storedMs !== undefined && !this.#isReplaced(version, span.endedMs);
      if (!isLast || !this.#isPresent(version, span, { superseded: true })) continue;
      if (!texts.has(version.text)) this.#break(`${version.text} is not in the database any more`);
    }
  }

  /**
   * Checks all promises.
   *
   * @throws Error the first promise that was broken.
   */
  check(): void {
    if (this.#broken) throw this.#broken;
  }

  /** Notes that a memory is superseded, which only one other can do. */
  #finish(removal: Removal, by: string): void {
    const { id } = removal;
    const before = this.#removals.find((each) => each.id === id && each.doneMs !== undefined);
    const isEarlier = before?.how === "superseded" || (before?.doneMs ?? Infinity) < removal.startedMs;
    if (before !== undefined && isEarlier) this.#break(`${by} superseded a memory that was ${before.how}`);
    removal.doneMs = this.time.nowMs;
  }

  #mustBeVisible(version: Version, span: Span): boolean {
    return this.#isPresent(version, span) && !this.#isReplaced(version, span.endedMs);
  }

  /** True if a memory that was stored by a version must be there, in that version or another. */
  #isPresent(version: Version, { startedMs, endedMs }: Span, { superseded = false } = {}): boolean {
    const { id, storedMs } = version;
    if (storedMs === undefined || storedMs > startedMs || this.#mayHaveExpired(version, endedMs))
      return false;
    const isRemoved = this.#removals.some(
      (each) => each.id === id && each.startedMs <= endedMs && !(superseded && each.how === "superseded"),
    );
    if (isRemoved) return false;
    // A drop that ended before the store began cannot have removed it.
    return !this.#drops.some(
      (drop) =>
        drop.holds(version) &&
        drop.startedMs <= endedMs &&
        (drop.droppedMs === undefined || drop.droppedMs >= version.startedMs),
    );
  }

  /** True if another version may have come after this one. */
  #isReplaced(version: Version, endedMs: number): boolean {
    return [...this.#versions.values()].some(
      (other) =>
        mayReplace(other, version) &&
        other.startedMs <= endedMs &&
        !(other.storedMs !== undefined && other.storedMs < version.startedMs),
    );
  }

  /** True if a version, or another one of its memory, may have expired. */
  #mayHaveExpired(version: Version, atMs: number): boolean {
    const versions = [...this.#versions.values()].filter(
      (each) => each.text === version.text || mayReplace(each, version),
    );
    return versions.some(({ expiresMs = Infinity }) => expiresMs - this.clockErrorMs <= atMs);
  }

  /** True if a version has expired, even if it is an update of the one that expires last. */
  #hasExpired(version: Version, atMs: number): boolean {
    const stores = [...this.#versions.values()].filter(
      (each) =>
        !each.isUpdate && (each.text === version.text || (version.isUpdate && mayReplace(each, version))),
    );
    return stores.every(({ expiresMs = Infinity }) => expiresMs <= atMs);
  }

  #mustBeHidden(version: Version, startedMs: number, { superseded = false } = {}): boolean {
    const { id } = version;
    if (version.refused === true || this.#hasExpired(version, startedMs - this.clockErrorMs)) return true;
    const isRemoved = this.#removals.some(
      (each) =>
        each.id === id &&
        (each.doneMs ?? Infinity) < startedMs &&
        !(superseded && each.how === "superseded") &&
        !this.#mayBeStoredSince(version, each),
    );
    return isRemoved || this.#isPast(version, startedMs);
  }

  /** True if nothing of a version may be left in the database. */
  #mustBeErased(version: Version): boolean {
    const { id } = version;
    const nowMs = this.time.nowMs;
    if (version.refused === true || this.#hasExpired(version, nowMs - EXPIRED_MS)) return true;
    const isDeleted = this.#removals.some(
      (each) =>
        each.id === id &&
        each.how === "deleted" &&
        each.doneMs !== undefined &&
        !this.#mayBeStoredSince(version, each),
    );
    return isDeleted || this.#isPast(version, nowMs);
  }

  /** True if a drop may have removed all that was known of a memory, before a retry stored it under the same id. */
  #mayBeStoredSince(version: Version, { startedMs, doneMs = Infinity }: Removal): boolean {
    const { storedMs = Infinity } = version;
    return (
      storedMs > doneMs &&
      this.#drops.some(
        (drop) =>
          drop.holds(version) && drop.startedMs < storedMs && (drop.droppedMs ?? Infinity) > startedMs,
      )
    );
  }

  /** True if another version has certainly replaced this one, or a drop has removed it. */
  #isPast(version: Version, startedMs: number): boolean {
    const { id, storedMs } = version;
    if (storedMs === undefined) return false;
    const isReplaced = [...this.#versions.values()].some(
      (other) =>
        mayReplace(other, version) &&
        other.id === id &&
        (other.storedMs ?? Number.POSITIVE_INFINITY) < startedMs &&
        other.startedMs > storedMs,
    );
    if (isReplaced) return true;
    // A filter finds nothing that has expired, which another process may still show.
    if (this.#mayHaveExpired(version, startedMs)) return false;
    return this.#drops.some(
      (drop) =>
        drop.holds(version) &&
        storedMs < drop.startedMs &&
        drop.droppedMs !== undefined &&
        drop.droppedMs < startedMs,
    );
  }

  #break(what: string): void {
    this.#broken ??= new Error(what);
  }
}

/** True if one version may be another one of the same memory. */
function mayReplace(other: Version, version: Version): boolean {
  if (other === version || other.text === version.text || other.name !== version.name) return false;
  if (other.refused === true) return false;
  if (other.id !== undefined && other.id === version.id) return true;
  return other.externalId !== undefined && other.externalId === version.externalId;
}

function isRefusal(error: unknown): boolean {
  return error instanceof MemoryError && !["unavailable", "internal"].includes(error.code);
}
