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
export class UsageError extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.notUnderstood,
  ) {
    super(message);
  }
}

/** Names of fields whose option has another name than theirs with dashes. */
const OPTIONS: Readonly<Record<string, string>> = {
  query: "QUERY",
  text: "TEXT",
  id: "ID",
  ids: "ID",
  expire_time: "--expires",
};

/** Message of a refusal with options in place of the fields that the server names. */
function inOptions({ code, message }: CallError): string {
  if (code === "failed_precondition") return message.replace("; set force ", "; set --force ");
  if (code !== "invalid_argument") return message;
  return message.replace(/^([a-z_]+)(?:(\.)|(?=[ :[]))/, (_, field: string, dot?: string) => {
    return `${OPTIONS[field] ?? `--${field.replaceAll("_", "-")}`}${dot === undefined ? "" : " "}`;
  });
}

/** Lines and exit code for an error. Control characters go: a server's text must not control a terminal. */
export function failureOf(error: unknown): { exitCode: number; lines: string[] } {
  const { exitCode, line } = lineOf(error);
  return { exitCode, lines: [whole(line.replace(/\s*\n\s*/g, " "))] };
}

function lineOf(error: unknown): { exitCode: number; line: string } {
  if (error instanceof CallError) {
    const id = error.requestId === undefined ? "" : `, request id ${error.requestId}`;
    const line = `recalld: ${inOptions(error)} (${error.code}${id})`;
    return { exitCode: exitCodeFor(error.code), line };
  }
  if (error instanceof UsageError) return { exitCode: error.exitCode, line: `recalld: ${error.message}` };
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, line: `recalld: ${message}` };
}
