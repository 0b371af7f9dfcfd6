import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** Niceness of threads whose work no call waits for: of a busy core they get a tenth of what others get. */
const NICENESS = 10;

/**
 * Lets all other threads go before this one, also those that it starts. Where the system knows priorities of
 * processes only, or allows no change, it does nothing.
 */
export function letOthersGoFirst(): void {
  if (process.platform !== "linux") return;
  try {
    // Linux numbers threads as it numbers processes.
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), NICENESS);
  } catch {
    // A sandbox may forbid it, and the work is the same without.
  }
}
