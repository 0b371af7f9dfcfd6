import { Code, ConnectError } from "@connectrpc/connect";
import { createStore } from "../store";
import { useStore } from "../use-store";

/** Pauses between two attempts to reach the server; the last one is repeated. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

const away = createStore(false);

/** True if the server could not be reached the last time. */
export function useAway(): boolean {
  return useStore(away);
}

/**
 * Recognizes a call that never reached the server, or whose answer never came. Browsers report both as a
 * TypeError.
 */
export function isUnreachable(error: unknown): boolean {
  if (!error) return false;
  const { code, cause } = ConnectError.from(error);
  return code === Code.Unknown && (cause instanceof TypeError || error instanceof TypeError);
}

type OnBack = () => void | Promise<void>;

const waiting = new Set<OnBack>();

/**
 * Tries until the server answers again, ever less often, and then calls back; each callback once. The server is away
 * until they have ended: an error that is still shown then is of something sent, which is not sent again by itself.
 */
export function awaitServer(url: string, onBack: OnBack): void {
  waiting.add(onBack);
  if (away.get()) return;
  away.set(true);
  const attempt = async (n: number) => {
    if (await answers(url)) {
      const all = [...waiting];
      waiting.clear();
      await Promise.all(all.map((each) => each()));
    }
    if (waiting.size === 0) away.set(false);
    else setTimeout(attempt, PAUSES_MS[Math.min(n, PAUSES_MS.length - 1)], n + 1);
  };
  setTimeout(attempt, PAUSES_MS[0], 1);
}

/** True if the server answers, and is ready for calls. */
async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
