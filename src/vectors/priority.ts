import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";

/** Niceness of threads whose work no call waits for: of a busy core they get a tenth of what others get. */
const NICENESS = 10;

/**
 * Lets all other threads go before this one, also those that it starts. Where the system knows priorities of
 * processes only, it does nothing.
 */
export function letOthersGoFirst(): void {
  // Linux numbers threads as it numbers processes.
  if (process.platform === "linux")
    setPriority(Number(basename(readlinkSync("/proc/thread-self"))), NICENESS);
}
