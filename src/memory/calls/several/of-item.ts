import { MemoryError } from "../../../errors.js";

/** Runs work on one part of a request; its errors name their field behind the part's path. */
export function ofItem<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw errorOfItem(path, error);
  }
}

/** Makes an error name its field behind the path of a part of the request. */
export function errorOfItem(path: string, error: unknown): unknown {
  if (!(error instanceof MemoryError) || error.field === undefined) return error;
  const { code, message, metadata, reason, retryAfterMs, cause } = error;
  const field = `${path}.${error.field}`;
  const told = message.startsWith(error.field) ? field + message.slice(error.field.length) : message;
  return new MemoryError(code, told, {
    ...{ field, metadata, cause },
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
