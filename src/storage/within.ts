/** Error for a wait that ended before what it waited for. */
export class TookTooLongError extends Error {
  override readonly name = "TookTooLongError";
}

/**
 * Number of parts that a wait is measured in. A pause of the whole process counts as one of them: timers fire before
 * an answer is read that arrived meanwhile.
 */
const PARTS = 5;

/** Returns the promise's outcome, or throws when that takes longer; what it stands for goes on. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const wait = (parts: number) => {
      if (parts === 0) reject(new TookTooLongError(`no answer within ${timeoutMs} ms`));
      else timer = setTimeout(wait, timeoutMs / PARTS, parts - 1);
    };
    wait(PARTS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
