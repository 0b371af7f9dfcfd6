import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { pino } from "pino";

/** Error causes that are followed when an error is logged. */
const CAUSES_MAX = 5;

/** Maximum number of bytes that wait for a slow or stopped reader of the log; further lines are dropped. */
const WAITING_BYTES_MAX = 1_048_576;

/** Time that the end of the program waits for such a reader. */
const FLUSH_TIMEOUT_MS = 1_000;

export interface Log {
  readonly logger: FastifyBaseLogger;
  /** Number of lines that were dropped since the start. */
  readonly dropped: () => number;
}

/**
 * Writes structured logs to stderr, one JSON object a line. No caller hands it a text or a key.
 *
 * It writes through Node's own stream, which writes at once what the system takes, so that nothing is lost at
 * an exit, and keeps the rest without waiting. Pino's own writer would wait for the reader of a pipe, in the
 * main thread or in one that then delays the exit.
 */
export function openLog(level: string, stream: Writable = process.stderr): Log {
  let [dropped, told] = [0, 0];
  const drop = () => {
    dropped += 1;
  };
  const write = (line: string) => {
    if (stream.writableLength + line.length > WAITING_BYTES_MAX) drop();
    else stream.write(line, (error) => error && drop());
  };
  const logger = pino({ level, base: null, serializers: { err: describeError } }, { write });
  // A reader that is gone, or a disk that is full, ends the log and not the service.
  stream.on("error", () => {});
  stream.on("drain", () => {
    if (dropped === told) return;
    logger.warn({ lines: dropped - told }, "lines of the log were dropped");
    told = dropped;
  });
  return { logger, dropped: () => dropped };
}

/** Resolves when all lines are written, or after a second. */
export async function flushLog(stream: Writable = process.stderr): Promise<void> {
  if (stream.writableLength === 0) return;
  const taken = new Promise<void>((resolve) => stream.write("", () => resolve()));
  await Promise.race([taken, sleep(FLUSH_TIMEOUT_MS)]);
}

/**
 * Pino's own serialiser is not used: it copies every property of an error, and a database driver's errors
 * carry the documents they were about.
 */
function describeError(error: unknown): unknown {
  const causes: unknown[] = [];
  for (let at = error; at instanceof Error && causes.length < CAUSES_MAX; at = at.cause) {
    const { name, message, stack } = at;
    causes.push({ type: name, message, code: (at as { code?: unknown }).code, stack });
  }
  return causes.length > 1 ? causes : (causes[0] ?? String(error));
}
