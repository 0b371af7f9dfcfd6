import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { MemoryService } from "../api";
import { awaitServer, isUnreachable } from "./reach";
import { currentKey, signOut } from "./session";

/** Address of the service: the address of this page, including the path under which it is served. */
export const SERVICE_URL = new URL(".", location.href).href.replace(/\/$/, "");

const withKey: Interceptor = (next) => (request) => {
  const key = currentKey();
  if (key !== undefined && !request.header.has("authorization"))
    request.header.set("authorization", `Bearer ${key}`);
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
  interceptors: [withKey, byNamespace],
});

/** Calls whose progress is followed, or which are made again and again; all others are queries. */
export const memoryClient = createClient(MemoryService, transport);

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && ConnectError.from(error).code === Code.Unavailable,
    },
  },
});

function onError(error: unknown): void {
  if (isUnreachable(error)) awaitServer(SERVICE_URL, loadAgain);
  if (currentKey() === undefined || ConnectError.from(error).code !== Code.Unauthenticated) return;
  queryClient.clear();
  signOut({
    title: "You were signed out",
    text: "This key no longer works: it was revoked, it expired, or its account was closed.",
  });
}

function loadAgain(): void {
  void queryClient.refetchQueries({ type: "active" });
}
