import { whole } from "../operator/show.js";
import { EXIT, exitCodeFor } from "./exit.js";

/** An error that a server answered, or that kept a call from it. */
export class CallError extends Error {
  constructor(
    /** Code as in the answers: `not_found`. */
    readonly code: string,
    message: string,
    readonly requestId?: string,
  ) {
    super(message);
  }
}

/** A line that cannot be carried out as it stands. */
export class UsageError extends Error {}

/** Says what went wrong, in lines for people, with the exit code. A server's text must not control a terminal. */
export function failureOf(error: unknown): { exitCode: number; lines: string[] } {
  const { exitCode, lines } = toldOf(error);
  return { exitCode, lines: lines.map(whole) };
}

function toldOf(error: unknown): { exitCode: number; lines: string[] } {
  if (error instanceof CallError) {
    const lines = [`recalld: ${error.message} (${error.code})`];
    if (error.requestId !== undefined) lines.push(`request id: ${error.requestId}`);
    return { exitCode: exitCodeFor(error.code), lines };
  }
  if (error instanceof UsageError)
    return { exitCode: EXIT.notUnderstood, lines: [`recalld: ${error.message}`] };
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, lines: [`recalld: ${message}`] };
}
