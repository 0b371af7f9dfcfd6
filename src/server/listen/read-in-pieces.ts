import type { Socket } from "node:net";
import { IterationTime, Turns } from "../../concurrency/yield-to-event-loop.js";
import { endSocket } from "./open-requests.js";

/**
 * Bytes of the first piece of a read, which the parser takes a quarter of a millisecond for where chunks have a byte each,
 * and of the largest: each is twice as long as the one before, because a long body is dear in short pieces.
 */
const PIECE_BYTES = { first: 1_024, max: 8_192 };
/** Time after which the rest of what a connection has sent waits for its turn. */
const PIECES_MS_MAX = 0.25;
/** Time in an iteration of the event loop after which what other connections send waits for its turn as well. */
const ITERATION_MS_MAX = 3;

/**
 * Turns of connections, and of the calls of HTTP/2, of their owners in turn: of thousands that a stranger floods, others
 * wait for one. So do those at the stranger's own address that send less. They are beside those of calls that run: a
 * call does not wait for what others send.
 */
const turns = new Turns(2);

/** Time of this iteration that all connections have together before they wait for turns. */
export const time = new IterationTime(ITERATION_MS_MAX);

/**
 * Calls back at once, or in the owner's turn if the time of this iteration of the event loop is over: of the turns that
 * all share, or of others. The function that it returns withdraws from them.
 */
export function runInTurn(owner: string, size: number, goOn: () => void, among = turns): () => void {
  if (time.isOver()) return among.ask(owner, size, goOn);
  goOn();
  return () => {};
}

/**
 * Gives what an HTTP/1 connection sends to Node's parser in pieces, which take turns with other work. A read of 64 KiB
 * may hold 11,000 chunks of a body or 3,000 requests, and the parser would call back for each of them before anything
 * could end the connection. Once our side has ended, what comes is dropped.
 *
 * Listening alone takes the connection's bytes from the parser, which otherwise reads them by itself.
 */
export function readInPieces(
  socket: Socket,
  { owner, parse }: { owner: string; parse(piece: Buffer): void },
): void {
  /** What is waited for: a turn, which is there in the end. */
  let turn: "none" | "awaited" | "there" = "none";
  const wait = () => {
    turn = "awaited";
    const withdraw = turns.ask(owner, socket.readableLength, () => {
      socket.off("close", withdraw);
      turn = "there";
      socket.resume();
    });
    // Thousands may wait, and each would hold a hundred requests that nobody waits for any more.
    socket.once("close", withdraw);
  };
  socket.on("data", (bytes: Buffer) => {
    const endsMs = performance.now() + PIECES_MS_MAX;
    let isOver = turn === "awaited" || (turn === "none" && time.isOver());
    if (turn === "there") turn = "none";
    let pieceBytes = PIECE_BYTES.first;
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
        if (!isPaused && turn === "none") wait();
        return;
      }
      parse(bytes.subarray(from, from + pieceBytes));
      from += pieceBytes;
      pieceBytes = Math.min(2 * pieceBytes, PIECE_BYTES.max);
      isOver = performance.now() >= endsMs;
    }
  });
}
