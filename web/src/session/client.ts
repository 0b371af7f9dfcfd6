import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { MutationCache, notifyManager, type Query, QueryCache, QueryClient } from "@tanstack/react-query";
import { MemoryService } from "../api";
import { hasUnsaved } from "../parts/ask-before-leaving";
import { awaitServer, isUnreachable } from "./reach";
import { currentSession } from "./session";

/** Address of the service: the address of this page, including the path under which it is served. */
export const SERVICE_URL = new URL(".", location.href).href.replace(/\/$/, "");

/** Header without which the session's cookie does not count. Forms and other origins cannot send it. */
export const FROM_PORTAL = { "x-recalld-session": "1" };

/** Errors that say that something is no longer as the page shows it. */
const OUTDATED: readonly Code[] = [Code.NotFound, Code.Aborted, Code.FailedPrecondition];

let isEnding = false;

/**
 * Ends the session by some work. Nothing is asked meanwhile: what were answered after the end would look like a session
 * that somebody else has ended.
 */
export async function endingSession(work: () => Promise<void>): Promise<void> {
  isEnding = true;
  try {
    await queryClient.cancelQueries();
    await work();
  } finally {
    isEnding = false;
  }
}

const fromPortal: Interceptor = (next) => (request) => {
  if (isEnding) throw new ConnectError("you are being signed out", Code.Canceled);
  for (const [name, value] of Object.entries(FROM_PORTAL)) request.header.set(name, value);
  return next(request);
};

/** Adds the namespace as a header, for balancers that send its calls to one replica. The service ignores it. */
const byNamespace: Interceptor = (next) => (request) => {
  const { namespace } = request.message as { namespace?: unknown };
  if (typeof namespace === "string" && namespace !== "")
    request.header.set("recalld-namespace", encodeURIComponent(namespace));
  return next(request);
};

export const transport = createConnectTransport({
  baseUrl: SERVICE_URL,
  interceptors: [fromPortal, byNamespace],
});

/** Calls whose progress is followed, or which are made again and again; all others are queries. */
export const memoryClient = createClient(MemoryService, transport);

// A button that sends is disabled before the browser handles the next click, so that a double click sends once, also
// on a slow device. The default, a timer, comes after a click that waits already.
notifyManager.setScheduler(queueMicrotask);

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  mutationCache: new MutationCache({
    onError: (error) => {
      noteFailure(error);
      if (OUTDATED.includes(ConnectError.from(error).code)) void loadAgain();
    },
  }),
  defaultOptions: {
    // Otherwise calls wait while the browser is offline. A server on this machine answers also then; and what was
    // sent to another, such as a deletion, must fail in sight and not happen later.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && ConnectError.from(error).code === Code.Unavailable,
    },
  },
});

/** Follows whether the server is away or the session has ended. Queries and mutations call it by themselves. */
export function noteFailure(error: unknown): void {
  if (isUnreachable(error)) awaitServer(SERVICE_URL, loadAgain);
  if (currentSession().signedIn !== true || ConnectError.from(error).code !== Code.Unauthenticated) return;
  // What is written stays on the page: after signing in again in another tab it can be saved.
  if (!hasUnsaved()) onSessionEnd();
}

let onSessionEnd = () => {};

/** Sets what is done when the server says that the session has ended. */
export function whenSessionEnds(listener: () => void): void {
  onSessionEnd = listener;
}

/** Asks again for everything that the page shows, but for what costs a call and has its answer. */
export function loadAgain(): Promise<void> {
  const predicate = ({ meta, state }: Query) => !meta?.costs || state.data === undefined;
  return queryClient.refetchQueries({ type: "active", predicate });
}
