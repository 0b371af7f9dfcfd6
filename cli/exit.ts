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

/** Returns the exit code for an error's code, as the server names it. */
export function exitCodeFor(code: string): number {
  return BY_CODE[code] ?? EXIT.failed;
}
