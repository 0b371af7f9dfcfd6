/** A mistake of the model's. Its message is for the model, in the words that the tool's documentation has. */
export class MemoryToolError extends Error {
  override readonly name = "MemoryToolError";
}

export const ROOT = "/memories";
/** Longest path: it is the memory's external id. */
const PATH_BYTES_MAX = 256;

/** Checks a path that a model gives. Returns it without a slash at its end. */
export function checkPath(path: unknown): string {
  if (typeof path !== "string") throw new MemoryToolError("path must be a string");
  const plain = path.replace(/\/$/, "");
  const [, first, ...parts] = plain.split("/");
  if (!plain.startsWith("/") || `/${first}` !== ROOT) {
    throw new MemoryToolError(`Path must start with ${ROOT}, got: ${path}`);
  }
  if (parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new MemoryToolError(`Path ${path} must name a file or directory in ${ROOT} without . and ..`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what an external id may not have.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(plain) || new TextEncoder().encode(plain).length > PATH_BYTES_MAX) {
    throw new MemoryToolError(`Path must have at most ${PATH_BYTES_MAX} bytes and no control characters`);
  }
  return plain;
}

/** Checks the path of a file: anything but the root. */
export function checkFilePath(path: unknown, doing: string): string {
  const plain = checkPath(path);
  if (plain === ROOT) throw new MemoryToolError(`Cannot ${doing} the ${ROOT} directory itself`);
  return plain;
}

/** Makes the mistake of a path where nothing is. */
export function noSuchPath(path: string): MemoryToolError {
  return new MemoryToolError(`The path ${path} does not exist. Please provide a valid path.`);
}

/** True if a path is in a directory. */
export function isWithin(path: string, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}
