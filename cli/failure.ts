import { RecalldError } from "../clients/typescript/src/index.js";
import { printable } from "../src/admin/show.js";
import { MemoryError, messageOf } from "../src/errors.js";

/** Exit codes: a script can tell apart what it can do something about. */
export const EXIT = {
  /** The server refused, or failed. */
  failed: 1,
  /** The line was not understood, or the server did not accept what was given. */
  notUnderstood: 2,
  /** There is no key, or it may not do this. */
  denied: 3,
  /** There is no such memory or namespace. */
  notFound: 4,
  /** The plan's calls are used up, or the key calls too often. */
  limited: 5,
  /** The server cannot be reached, or is not available now. */
  unavailable: 6,
} as const;

const BY_CODE: Readonly<Record<string, number>> = {
  invalid_argument: EXIT.notUnderstood,
  unauthenticated: EXIT.denied,
  permission_denied: EXIT.denied,
  not_found: EXIT.notFound,
  resource_exhausted: EXIT.limited,
  unavailable: EXIT.unavailable,
  deadline_exceeded: EXIT.unavailable,
};

/** A line that cannot be carried out as it stands. */
export class UsageError extends Error {
  override readonly name = "UsageError";

  constructor(
    message: string,
    readonly exitCode: number = EXIT.notUnderstood,
  ) {
    super(message);
  }
}

/** Does what fails through what the user gave. @throws UsageError that says what is wrong, and the error's reason */
export function orUsageError<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`${what}: ${messageOf(error)}`);
  }
}

/** Names of fields whose option has another name than theirs with dashes. */
const OPTIONS: Readonly<Record<string, string>> = {
  query: "QUERY",
  queries: "QUERY",
  like_id: "--like",
  text: "TEXT",
  id: "ID",
  ids: "ID",
  account_id: "ACCOUNT",
  expire_time: "--expires",
  event_time: "--at",
  position: "--from",
  apiKey: "the key",
  "recency.half_life": "--half-life",
  "recency.weight": "--recency-weight",
  neighbors: "--around",
  "neighbors.before": "--around",
  "neighbors.after": "--around",
  "neighbors.same": "--around-same",
};

/** Message of a refusal with options in place of the fields that the server and its client name. */
function inOptions({ code, message, field: named }: RecalldError | MemoryError): string {
  if (code !== "invalid_argument") {
    return message.replace("; set force ", "; set --force ").replace(": set baseUrl ", ": set --url ");
  }
  // It may begin with the name of a file.
  if (named === undefined) return message;
  const nested = message.replace(/^[a-z]+\.[a-z_]+/, (path) => OPTIONS[path] ?? path);
  return nested.replace(/^(?!the )([a-z][A-Za-z_]*)(?:(\.)|(?=[ :[]))/, (_, field: string, dot?: string) => {
    const option = field.replace(/_|(?=[A-Z])/g, "-").toLowerCase();
    return `${OPTIONS[field] ?? `--${option}`}${dot === undefined ? "" : " "}`;
  });
}

export function failureOf(error: unknown): { exitCode: number; line: string } {
  const [exitCode, text] = described(error);
  return { exitCode, line: failureLine(text) };
}

/** A line that says what failed. Control characters go: the text of a server or a file must not control a terminal. */
export function failureLine(text: string): string {
  return printable(`recalld: ${text}`.replace(/\s*\n\s*/g, " "));
}

function described(error: unknown): [exitCode: number, text: string] {
  if (error instanceof RecalldError || error instanceof MemoryError) {
    // An id that no server has answered is in no log.
    const isAnswered = error instanceof RecalldError && error.status !== undefined;
    const id = isAnswered ? `, request id ${error.requestId}` : "";
    const reason = error.reason === undefined ? "" : `, ${error.reason}`;
    return [BY_CODE[error.code] ?? EXIT.failed, `${inOptions(error)} (${error.code}${reason}${id})`];
  }
  if (error instanceof UsageError) return [error.exitCode, error.message];
  return [EXIT.failed, messageOf(error)];
}
