import { type ErrorCode, failedPrecondition, MemoryError } from "../../../errors.js";

/** Request of an operator's command to the process that owns the folder. */
export interface OwnerRequest {
  readonly operation: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Answers requests; throws MemoryError. */
export type Answering = (request: OwnerRequest) => Promise<unknown>;

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/**
 * Wraps a function so that it answers in lines of JSON. Errors other than MemoryError are not described,
 * because they may hold a text.
 */
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
  throw failedPrecondition("the server does not understand this request: is it older?");
}

/**
 * Parses a request; returns an empty object if it is not one. The parser's words would repeat the
 * request.
 */
function objectIn(line: string): { readonly operation?: unknown; readonly given?: unknown } {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {};
  }
}

/**
 * Returns the result in a line that `answering` made.
 *
 * @throws the MemoryError that is in it.
 */
export function resultIn(line: string): unknown {
  const { result, error } = JSON.parse(line) as Answer;
  if (error !== undefined) throw new MemoryError(error.code, error.message);
  return result;
}

const MASKED = new MemoryError("internal", "the server could not do this; it is a fault of ours");
