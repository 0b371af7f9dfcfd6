import { type ErrorCode, MemoryError } from "../../errors.js";

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
      return JSON.stringify({ result: (await answer(JSON.parse(line))) ?? null });
    } catch (error) {
      const { code, message } = error instanceof MemoryError ? error : MASKED;
      return JSON.stringify({ error: { code, message } });
    }
  };
}

/** The result in a line that `answering` gave. @throws the MemoryError that is in it */
export function resultIn(line: string): unknown {
  const { result, error } = JSON.parse(line) as Answer;
  if (error !== undefined) throw new MemoryError(error.code, error.message);
  return result;
}

const MASKED = new MemoryError("internal", "the server could not do this; it is a fault of ours");
