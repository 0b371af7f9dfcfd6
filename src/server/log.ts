import type { FastifyBaseLogger } from "fastify";
import { destination, pino } from "pino";

/** Error causes that are followed when an error is logged. */
const CAUSES_MAX = 5;

/** Structured logs on stderr, a JSON object a line. Nothing that holds a text or a key is ever handed to it. */
export function openLog(level: string): FastifyBaseLogger {
  return pino(
    { level, base: null, serializers: { err: describeError } },
    destination({ dest: 2, sync: true }),
  );
}

/**
 * Not pino's own serialiser, which copies every property of an error: a database driver's errors
 * carry the documents they were about.
 */
export function describeError(error: unknown): unknown {
  const causes: unknown[] = [];
  for (let at = error; at instanceof Error && causes.length < CAUSES_MAX; at = at.cause) {
    const { name, message, stack } = at;
    causes.push({ type: name, message, code: (at as { code?: unknown }).code, stack });
  }
  return causes.length > 1 ? causes : (causes[0] ?? String(error));
}
