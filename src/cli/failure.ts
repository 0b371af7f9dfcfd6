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

/** Says a refusal in the words of who typed options: the server names fields. */
function inOptions({ code, message }: CallError): string {
  if (code === "failed_precondition") return message.replace("; set force ", "; set --force ");
  if (code !== "invalid_argument") return message;
  return message.replace(/^([a-z_]+)(?:(\.)|(?=[ :[]))/, (_, field: string, dot?: string) => {
    return `${OPTIONS[field] ?? `--${field.replaceAll("_", "-")}`}${dot === undefined ? "" : " "}`;
  });
}

/** Says what went wrong, in lines for people, with the exit code. A server's text must not control a terminal. */
export function failureOf(error: unknown): { exitCode: number; lines: string[] } {
  const { exitCode, lines } = toldOf(error);
  return { exitCode, lines: lines.map((line) => whole(line.replace(/\s*\n\s*/g, " "))) };
}

function toldOf(error: unknown): { exitCode: number; lines: string[] } {
  if (error instanceof CallError) {
    const id = error.requestId === undefined ? "" : `, request id ${error.requestId}`;
    const line = `recalld: ${inOptions(error)} (${error.code}${id})`;
    return { exitCode: exitCodeFor(error.code), lines: [line] };
  }
  if (error instanceof UsageError) return { exitCode: error.exitCode, lines: [`recalld: ${error.message}`] };
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode: EXIT.failed, lines: [`recalld: ${message}`] };
}
