import { MemoryError } from "../../errors.js";

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
  const { code, field: inner, metadata, reason, retryAfterMs, cause } = error;
  const field = `${path}.${inner}`;
  const [message, recorded] = [error.message, error.recorded].map((text) =>
    text.startsWith(inner) ? field + text.slice(inner.length) : text,
  ) as [string, string];
  return new MemoryError(code, message, {
    field,
    recorded,
    metadata,
    cause,
    ...(reason !== undefined && { reason }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
