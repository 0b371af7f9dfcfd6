import { canceled, RecalldError } from "./errors.js";
import type { Settings } from "./options.js";

/** Pause before the second attempt; each further one is twice as long. */
const PAUSE_MS = 250;
const PAUSE_MS_MAX = 8_000;
/** Longest pause that a server may ask for: beyond it, the caller of a call decides. */
export const RETRY_AFTER_MS_MAX = 60_000;

/** Settings of a call that waits, and tries again. */
export type Patience = Pick<Settings, "retries" | "clock" | "signal" | "requestId">;

/** Does something again while it fails in a way that may pass. */
export async function withRetries<T>(settings: Patience, attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RecalldError)) throw error;
      error.attempts = attempts;
      const { retryAfterMs = 0, retryable } = error;
      if (!retryable || attempts > settings.retries || retryAfterMs > RETRY_AFTER_MS_MAX) throw error;
      await sleep(pauseMs(attempts - 1, retryAfterMs), settings);
    }
  }
}

/** Returns how long to wait: never shorter than the server asks, and not as long as others that failed then. */
export function pauseMs(failures: number, retryAfterMs = 0): number {
  const longest = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** Math.min(failures, 16));
  return retryAfterMs + longest * (0.5 + Math.random() / 2);
}

/** Waits, unless the caller gives up. */
export function sleep(ms: number, { clock, signal, requestId }: Omit<Patience, "retries">): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      reject(canceled({ signal, requestId }));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
