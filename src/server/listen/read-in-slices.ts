import type { Socket } from "node:net";
import { FairQueue, IterationTime } from "../../concurrency/yield-to-event-loop.js";
import { endSocket } from "./open-requests.js";

/**
 * Bytes of the first slice of a read, which the parser takes a quarter of a millisecond for where chunks have a byte each,
 * and of the largest: each is twice as long as the one before, because a long body is dear in short slices.
 */
const SLICE_BYTES = { first: 1_024, max: 8_192 };
/** Time after which the rest of what a connection has sent waits in the queue. */
const SLICES_MS_MAX = 0.25;
/** Time in an iteration of the event loop after which what other connections send waits there as well. */
const ITERATION_MS_MAX = 3;

/**
 * Queue of connections, and of the calls of HTTP/2, by owner: of thousands that a stranger floods, others wait for
 * one. So do those at the stranger's own address that send less. It is beside the queues of calls that run: a
 * call does not wait for what others send.
 */
const queue = new FairQueue(2);

/** Time of this iteration that all connections have together before they wait in the queue. */
export const time = new IterationTime(ITERATION_MS_MAX);

/**
 * Calls back at once, or when the owner's turn comes if the time of this iteration of the event loop is over, in the queue
 * that all share or in another. The function that it returns withdraws from it.
 */
export function runFairly(owner: string, size: number, goOn: () => void, among = queue): () => void {
  if (time.isOver()) return among.ask(owner, size, goOn);
  goOn();
  return () => {};
}

/**
 * Gives what an HTTP/1 connection sends to Node's parser in slices, between which other work runs. A read of 64 KiB
 * may hold 11,000 chunks of a body or 3,000 requests, and the parser would call back for each of them before anything
 * could end the connection. Once our side has ended, what comes is dropped.
 *
 * Listening alone takes the connection's bytes from the parser, which otherwise reads them by itself.
 */
export function readInSlices(
  socket: Socket,
  { owner, parse }: { owner: string; parse(slice: Buffer): void },
): void {
  /** Whether it waits in the queue, or has waited and may read now. */
  let queued: "no" | "waiting" | "over" = "no";
  const wait = () => {
    queued = "waiting";
    const withdraw = queue.ask(owner, socket.readableLength, () => {
      socket.off("close", withdraw);
      queued = "over";
      socket.resume();
    });
    // Thousands may wait, and each would hold a hundred requests that nobody waits for any more.
    socket.once("close", withdraw);
  };
  socket.on("data", (bytes: Buffer) => {
    const endsMs = performance.now() + SLICES_MS_MAX;
    let isOver = queued === "waiting" || (queued === "no" && time.isOver());
    if (queued === "over") queued = "no";
    let sliceBytes = SLICE_BYTES.first;
    for (let from = 0; from < bytes.length; ) {
      if (socket.writableEnded) {
        socket.pause();
        endSocket(socket);
      }
      if (socket.destroyed || socket.writableEnded) return;
      // Node pauses a connection that does not take its answers, and lets it go on itself.
      const isPaused = socket.isPaused();
      if (isPaused || isOver) {
        socket.pause().unshift(bytes.subarray(from));
        // Node also lets it go on when a request's reader asks for more.
        if (!isPaused && queued === "no") wait();
        return;
      }
      parse(bytes.subarray(from, from + sliceBytes));
      from += sliceBytes;
      sliceBytes = Math.min(2 * sliceBytes, SLICE_BYTES.max);
      isOver = performance.now() >= endsMs;
    }
  });
}
