import { Budget } from "../../../concurrency/budget.js";
import type { Clock } from "../../../concurrency/clock.js";
import { Share } from "../../../concurrency/share.js";
import { TimeSlice } from "../../../concurrency/time-slices.js";
import { unavailable } from "../../../errors.js";
import type { Slice } from "../../log/living-log.js";
import { SLICE_BYTES_MAX, weightOf } from "../../ports/bounds.js";
import type { Projection } from "../../ports/log.js";
import type { Caller } from "../../ports/quota.js";
import type { NamespaceRequest, Ports } from "../ports.js";
import type { News } from "./news.js";

type StreamKind = "watch" | "export";

/** Maximum numbers of open streams of a kind: of one account, and of all in a process. */
export const STREAM_LIMITS: Readonly<Record<StreamKind, { perAccount: number; all: number }>> = {
  watch: { perAccount: 64, all: 256 },
  export: { perAccount: 4, all: 16 },
};

/** Bytes of all slices that were read and not passed on yet. */
export const HELD_BYTES_MAX = 67_108_864;
/** Number of slices read at a time. */
const READING_MAX = 4;
/** Time that a stream waits for its account to pass on other slices, and the pause between two looks. */
const MEMORY_TIMEOUT_MS = 60_000;
const MEMORY_PAUSE_MS = 50;

export interface StreamRequest extends NamespaceRequest {
  /** Aborted when nobody takes the answer any more. */
  readonly signal: AbortSignal;
  /** Aborted when the process stops. */
  readonly ending: AbortSignal;
}

/** Ports of the operations that answer with a stream. */
export interface StreamPorts extends Ports {
  readonly news: News;
  readonly streams: OpenStreams;
}

const reason = "STREAMS_LIMITED";

/** Counts the streams of a process, and the bytes that they hold, by account. */
export class OpenStreams {
  readonly shares = {
    watch: new Share({ total: STREAM_LIMITS.watch.all, what: "open watches", reason }),
    export: new Share({ total: STREAM_LIMITS.export.all, what: "open exports", reason }),
    bytes: new Share({ total: HELD_BYTES_MAX, what: "bytes for streams" }),
  };
  readonly reading = new Budget({
    max: READING_MAX,
    waitingMax: 512,
    waitMs: MEMORY_TIMEOUT_MS,
    what: "streams",
  });

  constructor(readonly clock: Clock) {}

  /**
   * Opens a stream, which must be closed; the signal, aborted by a client that has gone and may never ask for what comes
   * next, closes it, too. It holds one slice at a time.
   *
   * @throws MemoryError (STREAMS_LIMITED) if too many are open.
   */
  open(kind: StreamKind, { accountId }: Caller, signal?: AbortSignal) {
    const { clock, reading, shares } = this;
    shares[kind].take(accountId, 1, STREAM_LIMITS[kind].perAccount);
    let held = 0;
    let isClosed = false;
    /** Gives back what is held above some bytes. The last entry of a slice may exceed the largest one. */
    const shrinkTo = (bytes: number) => {
      const remaining = Math.min(bytes, held);
      shares.bytes.give(accountId, held - remaining);
      held = remaining;
    };
    const close = () => {
      if (isClosed) return;
      isClosed = true;
      signal?.removeEventListener("abort", close);
      shrinkTo(0);
      shares[kind].give(accountId);
    };
    signal?.addEventListener("abort", close);
    /** Reads the next slice, once there is room for it; the one before must have been passed on. */
    const read = async <W extends Projection>(readSlice: () => Promise<Slice<W>>): Promise<Slice<W>> => {
      shrinkTo(0);
      const readIfFits = async () => {
        // The bytes of the largest slice; what this one does not need of them is given back.
        if (isClosed || !shares.bytes.tryTake(accountId, SLICE_BYTES_MAX)) return undefined;
        held = SLICE_BYTES_MAX;
        let bytes = 0;
        try {
          const slice = await readSlice();
          bytes = slice.entries.reduce((sum, { entry }) => sum + weightOf(entry), 0);
          return slice;
        } finally {
          shrinkTo(bytes);
        }
      };
      const untilMs = clock.nowMs() + MEMORY_TIMEOUT_MS;
      for (;;) {
        signal?.throwIfAborted();
        const slice = await reading.run(1, readIfFits);
        if (slice !== undefined) return slice;
        if (clock.nowMs() > untilMs)
          throw unavailable("too much that was read for streams waits to be taken");
        await clock.sleep(MEMORY_PAUSE_MS);
      }
    };
    return { read, close };
  }
}

export type OpenStream = ReturnType<OpenStreams["open"]>;

/** Age after which a stream proves its caller's key again before it passes anything on. */
const PROVED_FOR_MS = 1_000;

/**
 * Returns a function that proves again and again that the key of a long call still lives. Made right after the key was
 * proved; it throws MemoryError `unauthenticated` if the key was revoked, or its account closed.
 */
export function prover({ quota, clock }: Ports, caller: Caller): () => Promise<void> {
  let provedMs = clock.nowMs();
  return async () => {
    const nowMs = clock.nowMs();
    if (nowMs - provedMs < PROVED_FOR_MS) return;
    await quota.verify(caller);
    provedMs = nowMs;
  };
}

/** Age after which a slice is read again: what was deleted since has lost its text. */
export const FRESH_MS = 1_000;

/** Passes on what was just read, at least one, as long as it is fresh, with pauses for other calls. */
export async function* fresh<T>(
  clock: Clock,
  entries: readonly T[],
  readMs = clock.nowMs(),
): AsyncGenerator<T> {
  const timeSlice = new TimeSlice(clock);
  for (const [i, each] of entries.entries()) {
    if (i > 0 && clock.nowMs() - readMs > FRESH_MS) return;
    yield each;
    await timeSlice.endIfOver();
  }
}
