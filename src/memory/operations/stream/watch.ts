import { TimeSlice } from "../../../concurrency/time-slices.js";
import { type LivingLog, livingLogOf } from "../../log/living-log.js";
import { type Entry, entryAt, type Projected, type Sequenced } from "../../ports/log.js";
import { baseOf } from "../../ports/model-version.js";
import type { Scope } from "../../ports/names.js";
import type { Caller } from "../../ports/quota.js";
import { authorizeFree } from "../../requests/authorize.js";
import { scopeOf } from "../../requests/namespace.js";
import { isExpired } from "../../versions/current-version.js";
import { LogReader } from "./log-reader.js";
import { type News, nameTopic } from "./news.js";
import { type OpenStream, Proof, type StreamPorts } from "./open-streams.js";
import { BEFORE_ALL, type Position, parsePosition, positionGone, positionToken } from "./position.js";

/** Longest time without an event. */
export const HEARTBEAT_MS = 15_000;
/** Entries read at a time. */
const READ_MANY = 64;
/** Age after which a slice is read again: what was deleted since has lost its text. */
export const FRESH_MS = 1_000;

interface WatchRequest {
  readonly caller: Caller;
  readonly namespace: string;
  /** Token of the last event that was seen; empty means the present. */
  readonly position: string;
  /** Name by which the caller gave the position, for a refusal; `position` if left out. */
  readonly positionName?: string | undefined;
  /** Aborted when nobody takes the events any more. */
  readonly signal: AbortSignal;
  /** Aborted when the process stops. */
  readonly ending: AbortSignal;
}

/** A change, or a sign of life, and the token of the position behind it. */
export interface WatchEvent {
  readonly position: string;
  readonly event: Change | { readonly kind: "heartbeat" };
}

/**
 * Follows a namespace: every change behind a position, in the order of its log, for as long as it is asked
 * for. The first event is a heartbeat with the position where it begins. When the namespace is dropped, it
 * says so, and goes on with the next one of this name. When the process stops, it ends with a heartbeat.
 * Costs nothing.
 *
 * @throws MemoryError `invalid_argument` or `failed_precondition` (POSITION_GONE) for a position that is not
 * the namespace's; `unauthenticated` as soon as the key is revoked; `unavailable` if the database cannot
 * answer; `resource_exhausted` or `unavailable` (STREAMS_LIMITED) if too many are open.
 */
export async function* watch(ports: StreamPorts, request: WatchRequest): AsyncGenerator<WatchEvent> {
  const { caller, signal } = request;
  const scope = scopeOf(request);
  const from = parsePosition(request.position, request.positionName);
  await authorizeFree(ports.quota, caller, { writes: false, namespace: scope.namespace });
  const stream = ports.streams.open("watch", caller, signal);
  try {
    const begin = await startOf(ports, { scope, from });
    yield* new Watching(ports, { ...request, scope, stream }, begin).events();
  } finally {
    stream.close();
  }
}

interface Watched extends Pick<WatchRequest, "caller" | "signal" | "ending"> {
  readonly scope: Scope;
  readonly stream: OpenStream;
}

class Watching {
  /** The log that is read; undefined while the namespace has none behind `#at`. */
  #reader: LogReader<"text"> | undefined;
  #at: Position;
  #toldMs: number;
  readonly #proof: Proof;

  constructor(
    private readonly ports: StreamPorts,
    private readonly watched: Watched,
    begin: Begin,
  ) {
    this.#at = begin.at;
    this.#open(begin.logId);
    this.#toldMs = ports.clock.nowMs();
    this.#proof = new Proof(ports, watched.caller);
  }

  async *events(): AsyncGenerator<WatchEvent> {
    yield this.#told({ kind: "heartbeat" });
    while (!this.#isOver) {
      if (this.#reader === undefined) await this.#findNext();
      else yield* this.#changes(this.#reader);
      if (this.#patienceMs > 0 || this.#isOver) continue;
      await this.#proof.renew();
      yield this.#told({ kind: "heartbeat" });
    }
    if (!this.watched.signal.aborted) yield this.#told({ kind: "heartbeat" });
  }

  get #isOver(): boolean {
    const { signal, ending } = this.watched;
    return signal.aborted || ending.aborted;
  }

  get #patienceMs(): number {
    return this.#toldMs + HEARTBEAT_MS - this.ports.clock.nowMs();
  }

  async *#changes(reader: LogReader<"text">): AsyncGenerator<WatchEvent> {
    const { stream, signal } = this.watched;
    let timeSlice = new TimeSlice();
    const { entries, complete, dropped } = await stream.read(reader, { limit: READ_MANY, signal });
    if (dropped) {
      this.#endReader();
      yield this.#told({ kind: "dropped" });
      return;
    }
    const readMs = this.ports.clock.nowMs();
    for (const [i, entry] of entries.entries()) {
      const isOld = i > 0 && this.ports.clock.nowMs() - readMs > FRESH_MS;
      if (isOld || this.#isOver) return;
      yield* this.#changed(reader, entry);
      if (!timeSlice.isOver) continue;
      await this.ports.clock.yield();
      timeSlice = new TimeSlice();
    }
    if (complete) await this.#waitForEntry(reader);
    else await this.ports.clock.yield();
  }

  async *#changed(
    reader: LogReader<"text">,
    { sequence, entry }: Sequenced<Entry<"text">>,
  ): AsyncGenerator<WatchEvent> {
    const { logId } = reader;
    const change = await changeOf(entry, {
      nowMs: this.ports.clock.wallMs(),
      idOf: (target) => idAt(this.ports, { logId, sequence: target, tombstone: sequence }),
    });
    reader.after = sequence;
    this.#at = reader.position;
    if (change === undefined) return;
    await this.#proof.renew();
    if (change.kind === "dropped") this.#endReader();
    yield this.#told(change);
  }

  #told(event: WatchEvent["event"]): WatchEvent {
    this.#toldMs = this.ports.clock.nowMs();
    return { position: positionToken(this.#at), event };
  }

  /** Ends the reader of a log that has ended. */
  #endReader(): void {
    this.#reader = undefined;
    this.#at = { base: this.#at.base, after: "end" };
  }

  #open(logId: string | undefined): void {
    const { after } = this.#at;
    if (logId !== undefined && after !== "end") {
      this.#reader = new LogReader(this.ports.log, { logId, after, what: "text" });
    }
  }

  /** Waits until the log has another entry, or a sign of life is due. */
  async #waitForEntry({ logId, after }: LogReader<"text">): Promise<void> {
    const { log } = this.ports;
    const look = async () => ((await log.last(logId))?.sequence ?? 0) > after;
    await this.#wait({ key: `${logId} ${after}`, topic: logId, look });
  }

  /** Begins with the namespace's next log, or waits for it. */
  async #findNext(): Promise<void> {
    const { scope } = this.watched;
    const next = async () => nextAfter(await livingLogOf(this.ports, scope), this.#at);
    const found = await next();
    if (found === undefined) {
      const topic = nameTopic(scope);
      return this.#wait({
        key: `${this.#at.base} ${topic}`,
        topic,
        look: async () => (await next()) !== undefined,
      });
    }
    this.#at = { base: baseOf(found.logId), after: 0 };
    this.#open(found.logId);
  }

  async #wait(awaited: Parameters<News["wait"]>[0]): Promise<void> {
    const { signal, ending } = this.watched;
    await this.ports.news.wait(awaited, { ms: Math.max(0, this.#patienceMs), signals: [signal, ending] });
  }
}

/** Where a watch begins. */
interface Begin {
  readonly at: Position;
  /** The log to read; absent while there is none. */
  readonly logId?: string;
}

async function startOf(
  ports: StreamPorts,
  { scope, from }: { scope: Scope; from: Position | undefined },
): Promise<Begin> {
  const living = await livingLogOf(ports, scope);
  if (from === undefined) return presentOf(living);
  // It is found when the watch looks for its next log.
  if (from.after === "end") return { at: from };
  if (living === undefined || baseOf(living.logId) !== from.base || from.after > living.last) {
    throw positionGone();
  }
  return { at: from, logId: living.logId };
}

function presentOf(living: LivingLog | undefined): Begin {
  if (living === undefined) return { at: BEFORE_ALL };
  const { logId, last, dropped } = living;
  const base = baseOf(logId);
  return dropped ? { at: { base, after: "end" } } : { at: { base, after: last }, logId };
}

/** The log behind the end of another one; undefined if the name has none, or still that one. */
function nextAfter(living: LivingLog | undefined, { base }: Position): LivingLog | undefined {
  if (living === undefined || living.dropped || baseOf(living.logId) === base) return undefined;
  return living;
}

/** Change of a namespace, as its users see an entry of its log. */
type Change =
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
async function changeOf(entry: Entry<"text">, { nowMs, idOf }: ChangeOptions): Promise<Change | undefined> {
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

/**
 * Finds the id of the memory that a tombstone deletes; undefined if nothing tells it, or if another version had
 * taken the place of the deleted one before.
 */
async function idAt(
  { log, secondaryIndexes }: StreamPorts,
  { logId, sequence, tombstone }: { logId: string; sequence: number; tombstone: number },
): Promise<string | undefined> {
  const entry = await entryAt(log, logId, sequence);
  if (entry?.op !== "store" && entry?.op !== "erased") return undefined;
  const { id } = entry;
  // What replaced a lost entry in a copy has no id.
  if (id === "") return undefined;
  const present = await secondaryIndexes.locate({ logId, id });
  return present !== undefined && present > sequence && present < tombstone ? undefined : id;
}
