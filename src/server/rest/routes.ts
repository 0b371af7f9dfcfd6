/** Form of an answer that is a stream: the events of HTML's `EventSource`, or lines of JSON. */
export type StreamForm = "events" | "lines";

/** Path of REST, whose parameters, query or body make the request of an RPC. */
export interface RestRoute {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly url: string;
  readonly rpc: string;
  readonly form?: StreamForm;
}

const memory = (name: string) => `recalld.v1.MemoryService/${name}`;
const account = (name: string) => `recalld.v1.AccountService/${name}`;

const MEMORIES = "/namespaces/:namespace/memories";

/** One path for each RPC: the fields of GET and DELETE stand in path and query, all others in the body. */
export const REST_ROUTES: readonly RestRoute[] = [
  { method: "POST", url: "/store", rpc: memory("Store") },
  { method: "POST", url: "/store/batch", rpc: memory("StoreBatch") },
  { method: "POST", url: "/recall", rpc: memory("Recall") },
  { method: "POST", url: "/signup", rpc: account("SignUp") },
  { method: "GET", url: MEMORIES, rpc: memory("ListMemories") },
  { method: "GET", url: `${MEMORIES}/:id`, rpc: memory("GetMemory") },
  { method: "PATCH", url: `${MEMORIES}/:id`, rpc: memory("UpdateMemory") },
  { method: "DELETE", url: `${MEMORIES}/:id`, rpc: memory("DeleteMemory") },
  { method: "POST", url: `${MEMORIES}/get`, rpc: memory("GetMemories") },
  { method: "POST", url: `${MEMORIES}/count`, rpc: memory("CountMemories") },
  { method: "POST", url: `${MEMORIES}/delete`, rpc: memory("DeleteMemories") },
  { method: "POST", url: `${MEMORIES}/update`, rpc: memory("UpdateMemories") },
  { method: "GET", url: "/namespaces", rpc: memory("ListNamespaces") },
  { method: "GET", url: "/namespaces/:namespace", rpc: memory("GetNamespace") },
  { method: "DELETE", url: "/namespaces/:namespace", rpc: memory("DeleteNamespace") },
  { method: "POST", url: "/namespaces/delete", rpc: memory("DeleteNamespaces") },
  { method: "GET", url: "/account", rpc: account("GetAccount") },
  { method: "DELETE", url: "/account", rpc: account("CloseAccount") },
  { method: "GET", url: "/usage", rpc: account("GetUsage") },
  { method: "GET", url: "/calls", rpc: account("ListRecentCalls") },
  { method: "GET", url: "/keys", rpc: account("ListKeys") },
  { method: "POST", url: "/keys", rpc: account("CreateKey") },
  { method: "DELETE", url: "/keys/:id", rpc: account("RevokeKey") },
  { method: "GET", url: "/namespaces/:namespace/events", rpc: memory("WatchNamespace"), form: "events" },
  { method: "GET", url: "/namespaces/:namespace/export", rpc: memory("ExportMemories"), form: "lines" },
];
