import { type ErrorCode, MemoryError } from "../../../errors.js";

/** What an operator's command asks of the process that owns the folder. */
export interface OwnerRequest {
  readonly operation: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Answers requests; errors as MemoryError. */
export type Answering = (request: OwnerRequest) => Promise<unknown>;

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** As lines of JSON. What is thrown besides MemoryError is not told: it may hold a text. */
export function answering(answer: Answering): (line: string) => Promise<string> {
  return async (line) => {
    try {
      return JSON.stringify({ result: (await answer(requestIn(line))) ?? null });
    } catch (error) {
      const { code, message } = error instanceof MemoryError ? error : MASKED;
      return JSON.stringify({ error: { code, message } });
    }
  };
}

function requestIn(line: string): OwnerRequest {
  const { operation, given } = objectIn(line);
  if (typeof operation === "string" && typeof given === "object" && given !== null) {
    return { operation, given: { ...given } };
  }
  throw new MemoryError("failed_precondition", "the server does not understand this request: is it older?");
}

/** Without a field when it is none: the parser's words would repeat what was given. */
function objectIn(line: string): { readonly operation?: unknown; readonly given?: unknown } {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

/** The result in a line that `answering` gave. @throws the MemoryError that is in it */
export function resultIn(line: string): unknown {
  const { result, error } = JSON.parse(line) as Answer;
  if (error !== undefined) throw new MemoryError(error.code, error.message);
  return result;
}

const MASKED = new MemoryError("internal", "the server could not do this; it is a fault of ours");
