import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";

const ATTEMPTS_MAX = 3;
const PAUSE_MS = 2000;

/** Retries calls that failed because the server was busy, so that a run of an hour survives a busy minute. */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const { code } = ConnectError.from(error);
      const mayPass = code === Code.Unavailable || code === Code.DeadlineExceeded;
      if (!mayPass || attempt === ATTEMPTS_MAX) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
