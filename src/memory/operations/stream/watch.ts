import { livingLogOf, type Reading, readOn } from "../../log/living-log.js";
import { type Entry, entryAt, type Projected, type Sequenced } from "../../ports/log.js";
import { baseOf } from "../../ports/model-version.js";
import { type Scope, scopeId } from "../../ports/names.js";
import { authorizeFree } from "../../requests/authorize.js";
import { isExpired } from "../../versions/current-version.js";
import type { News } from "./news.js";
import { fresh, type OpenStream, prover, type StreamPorts, type StreamRequest } from "./open-streams.js";
import {
  BEFORE_ALL,
  type Position,
  parsePosition,
  positionAfter,
  positionGone,
  positionToken,
} from "./position.js";

/** Longest time without an event. */
export const HEARTBEAT_MS = 15_000;
/** Entries read at a time. */
const READ_MANY = 64;
interface WatchRequest extends StreamRequest {
  /** Token of the last event that was seen; empty means the present. */
  readonly position: string;
  /** Name by which the caller gave the position, for a refusal; `position` if left out. */
  readonly positionName?: string | undefined;
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
  const from = parsePosition(request.position, request.positionName);
  const scope = await authorizeFree(ports, request, { writes: false });
  const stream = ports.streams.open("watch", caller, signal);
  try {
    yield* new Watching(ports, { ...request, scope, stream }).events(from);
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
  #reading: Reading | undefined;
  #at = BEFORE_ALL;
  #toldMs = 0;
  readonly #prove: () => Promise<void>;

  constructor(
    private readonly ports: StreamPorts,
    private readonly watched: Watched,
  ) {
    this.#prove = prover(ports, watched.caller);
  }

  /** Every change from a position on; without a position, every change from now on. */
  async *events(from: Position | undefined): AsyncGenerator<WatchEvent> {
    await this.#begin(from);
    yield this.#told({ kind: "heartbeat" });
    while (!this.#isOver) {
      if (this.#reading === undefined) await this.#findNext();
      else yield* this.#changes(this.#reading);
      if (this.#patienceMs > 0 || this.#isOver) continue;
      await this.#prove();
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

  async #begin(from: Position | undefined): Promise<void> {
    const living = await livingLogOf(this.ports, this.watched.scope);
    if (from !== undefined) this.#at = from;
    else if (living !== undefined) this.#at = positionAfter(living);
    const { base, after, opId } = this.#at;
    const isHere = living !== undefined && baseOf(living.logId) === base;
    if (after === "end") {
      if (isHere && !living.dropped) throw positionGone();
      // The log after the end of another is found when the watch looks for its next log.
      return;
    }
    if (!isHere || after > living.last) throw positionGone();
    const { log } = this.ports;
    if (opId !== undefined && (await entryAt(log, living.logId, after))?.opId !== opId) throw positionGone();
    this.#reading = { logId: living.logId, after };
  }

  async *#changes(reading: Reading): AsyncGenerator<WatchEvent> {
    const { clock, log } = this.ports;
    const asked = { limit: READ_MANY, projection: "text" } as const;
    const { entries, complete, dropped } = await this.watched.stream.read(() => readOn(log, reading, asked));
    if (dropped) {
      yield this.#ended();
      return;
    }
    const last = entries.at(-1)?.sequence ?? reading.after;
    for await (const each of fresh(clock, entries)) {
      if (this.#isOver) return;
      const change = await changeOf(this.ports, reading.logId, each);
      reading.after = each.sequence;
      this.#at = { base: this.#at.base, after: each.sequence, opId: each.entry.opId };
      if (change === undefined) continue;
      await this.#prove();
      yield change.kind === "dropped" ? this.#ended() : this.#told(change);
    }
    if (reading.after < last) return;
    if (complete && this.#reading !== undefined) await this.#waitForEntry(reading);
    else await clock.yield();
  }

  #told(event: WatchEvent["event"]): WatchEvent {
    this.#toldMs = this.ports.clock.nowMs();
    return { position: positionToken(this.#at), event };
  }

  /** The event for a log that has ended; no entry of it follows. */
  #ended(): WatchEvent {
    this.#reading = undefined;
    this.#at = { base: this.#at.base, after: "end" };
    return this.#told({ kind: "dropped" });
  }

  /** Waits until the log has another entry, or a sign of life is due. */
  async #waitForEntry({ logId, after }: Reading): Promise<void> {
    const { log } = this.ports;
    const hasHappened = async () => ((await log.last(logId))?.sequence ?? 0) > after;
    await this.#wait({ key: `${logId} ${after}`, topic: logId, hasHappened });
  }

  /** Begins with the namespace's next log, or waits for it. */
  async #findNext(): Promise<void> {
    const { scope } = this.watched;
    const { base } = this.#at;
    const next = async () => {
      const living = await livingLogOf(this.ports, scope);
      // The name may still point to the log that has ended.
      return living === undefined || living.dropped || baseOf(living.logId) === base ? undefined : living;
    };
    const found = await next();
    if (found !== undefined) {
      this.#at = { base: baseOf(found.logId), after: 0 };
      this.#reading = { logId: found.logId, after: 0 };
      return;
    }
    const topic = scopeId(scope);
    await this.#wait({
      key: `${base} ${topic}`,
      topic,
      hasHappened: async () => (await next()) !== undefined,
    });
  }

  async #wait(awaited: Parameters<News["wait"]>[0]): Promise<void> {
    const { signal, ending } = this.watched;
    await this.ports.news.wait(awaited, { ms: Math.max(0, this.#patienceMs), signals: [signal, ending] });
  }
}

/** Change of a namespace, as its users see an entry of its log. */
type Change =
  | { readonly kind: "stored"; readonly memory: Projected["text"] }
  | { readonly kind: "deleted"; readonly id: string }
  | { readonly kind: "dropped" };

/**
 * Translates an entry; undefined if it changes nothing that a user sees. A memory that was erased is none:
 * its tombstone or its next version follows. One that has expired is none, and its tombstone follows, too. A
 * move is none either: the copy has the same entries under the same numbers.
 */
async function changeOf(
  { log, secondaryIndexes, clock }: StreamPorts,
  logId: string,
  { sequence, entry }: Sequenced<Entry<"text">>,
): Promise<Change | undefined> {
  if (entry.op === "store") {
    return isExpired(entry, clock.wallMs()) ? undefined : { kind: "stored", memory: entry };
  }
  if (entry.op === "drop") return { kind: "dropped" };
  if (entry.op !== "delete") return undefined;
  const { target } = entry;
  const deleted = await entryAt(log, logId, target);
  if (deleted?.op !== "store" && deleted?.op !== "erased") return undefined;
  const { id } = deleted;
  // What replaced a lost entry in a copy has no id.
  if (id === "") return undefined;
  const present = await secondaryIndexes.locate({ logId, id });
  // Another version had taken the place of the deleted one before.
  if (present !== undefined && present > target && present < sequence) return undefined;
  return { kind: "deleted", id };
}
