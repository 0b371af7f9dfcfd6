import { MemoryError, unavailable } from "../../errors.js";
import { weightOf } from "../pacing/bounds.js";
import { Budget } from "../pacing/budget.js";
import type { Clock } from "../pacing/clock.js";
import type { What } from "../ports/log.js";
import type { Caller } from "../ports/quota.js";
import type { LogReader, Slice } from "./log-reader.js";

export type StreamKind = "watch" | "export";

/** Maximum numbers of open streams of a kind in a process. */
export interface StreamLimits {
  readonly perKey: number;
  readonly perAccount: number;
  readonly all: number;
}

export const STREAM_LIMITS: Readonly<Record<StreamKind, StreamLimits>> = {
  watch: { perKey: 16, perAccount: 64, all: 256 },
  export: { perKey: 2, perAccount: 4, all: 16 },
};

/** Maximum bytes of all slices that were read and not passed on yet, and of those of one account. */
const HELD_BYTES_MAX = 67_108_864;
const ACCOUNT_BYTES_MAX = HELD_BYTES_MAX / 4;
/** Number of slices read at a time, which may together exceed these bounds. */
const READING_MAX = 4;
/** Time that a stream waits for others to pass on theirs, and the pause between two looks. */
const ROOM_TIMEOUT_MS = 60_000;
const ROOM_PAUSE_MS = 50;
const RETRY_MS = 5_000;

/** Counts the streams of a process, and the bytes that they hold. */
export class OpenStreams {
  readonly #open = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  readonly #reading: Budget;
  #allBytes = 0;

  constructor(readonly clock: Clock) {
    const waitMs = ROOM_TIMEOUT_MS;
    this.#reading = new Budget({ max: READING_MAX, waitingMax: 512, waitMs, what: "streams" });
  }

  /** Bytes of the slices that are held now. */
  get heldBytes(): number {
    return this.#allBytes;
  }

  /** Number of open streams of a kind. */
  count(kind: StreamKind): number {
    return this.#open.get(kind) ?? 0;
  }

  /** Opens a stream, which must be closed. @throws MemoryError (STREAMS_LIMITED) if too many are open. */
  open(kind: StreamKind, { keyHash, accountId }: Caller): OpenStream {
    const { perKey, perAccount, all } = STREAM_LIMITS[kind];
    const places = [`${kind} key ${keyHash}`, `${kind} account ${accountId}`];
    const [ofKey, ofAccount] = places.map((place) => this.#open.get(place) ?? 0) as [number, number];
    if (ofKey >= perKey) throw tooMany("resource_exhausted", `this key has ${perKey} of them open`);
    if (ofAccount >= perAccount) {
      throw tooMany("resource_exhausted", `this account has ${perAccount} of them open`);
    }
    if (this.count(kind) >= all) throw tooMany("unavailable", "the server has too many of them open");
    places.push(kind);
    for (const place of places) add(this.#open, place, 1);
    return new OpenStream({
      give: () => {
        for (const place of places) add(this.#open, place, -1);
      },
      hold: (bytes) => this.#hold(accountId, bytes),
      hasRoom: () => this.#hasRoom(accountId),
      room: (signal) => this.#room(accountId, signal),
      run: (work) => this.#reading.run(1, work),
    });
  }

  #hold(accountId: string, bytes: number): void {
    this.#allBytes += bytes;
    add(this.#bytes, accountId, bytes);
  }

  #hasRoom(accountId: string): boolean {
    return this.#allBytes < HELD_BYTES_MAX && (this.#bytes.get(accountId) ?? 0) < ACCOUNT_BYTES_MAX;
  }

  /** Waits until there is room for a slice. */
  async #room(accountId: string, signal: AbortSignal): Promise<void> {
    const { clock } = this;
    const untilMs = clock.nowMs() + ROOM_TIMEOUT_MS;
    while (!this.#hasRoom(accountId)) {
      signal.throwIfAborted();
      if (clock.nowMs() > untilMs) throw unavailable("too much that was read for streams waits to be taken");
      await clock.sleep(ROOM_PAUSE_MS);
    }
  }
}

interface OpenPlace {
  give(): void;
  hold(bytes: number): void;
  hasRoom(): boolean;
  room(signal: AbortSignal): Promise<void>;
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** One open stream. It holds one slice at a time. */
export class OpenStream {
  #held = 0;
  #closed = false;

  constructor(private readonly place: OpenPlace) {}

  /** Reads the next slice, once there is room for it; the one before must have been passed on. */
  async read<W extends What>(
    reader: LogReader<W>,
    { limit, signal }: { limit: number; signal: AbortSignal },
  ): Promise<Slice<W>> {
    this.#hold(0);
    for (;;) {
      await this.place.room(signal);
      const slice = await this.place.run(() => this.#readIfRoom(reader, limit));
      if (slice !== undefined) return slice;
    }
  }

  /** Reads, unless others have taken the room while this stream waited for its turn. */
  async #readIfRoom<W extends What>(reader: LogReader<W>, limit: number): Promise<Slice<W> | undefined> {
    if (!this.place.hasRoom()) return undefined;
    const slice = await reader.read(limit);
    // It may have been closed while it read.
    if (!this.#closed) this.#hold(slice.entries.reduce((sum, { entry }) => sum + weightOf(entry), 0));
    return slice;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hold(0);
    this.place.give();
  }

  #hold(bytes: number): void {
    this.place.hold(bytes - this.#held);
    this.#held = bytes;
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const sum = (counts.get(name) ?? 0) + change;
  if (sum > 0) counts.set(name, sum);
  else counts.delete(name);
}

function tooMany(code: "resource_exhausted" | "unavailable", message: string): MemoryError {
  return new MemoryError(code, message, { reason: "STREAMS_LIMITED", retryAfterMs: RETRY_MS });
}
