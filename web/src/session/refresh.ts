import { createConnectQueryKey } from "@connectrpc/connect-query";
import { accounts, memories } from "../api";
import { queryClient } from "./client";

/** Makes a query key without a cardinality, so that it matches both single and paged queries. */
const cardinality = undefined;
const KEYS = {
  account: createConnectQueryKey({ schema: accounts.getAccount, cardinality }),
  usage: createConnectQueryKey({ schema: accounts.getUsage, cardinality }),
  keys: createConnectQueryKey({ schema: accounts.listKeys, cardinality }),
  namespaces: createConnectQueryKey({ schema: memories.listNamespaces, cardinality }),
  memories: createConnectQueryKey({ schema: memories.listMemories, cardinality }),
  memory: createConnectQueryKey({ schema: memories.getMemory, cardinality }),
  count: createConnectQueryKey({ schema: memories.countMemories, cardinality }),
};

/** Reloads the data that a call has changed. */
export function refresh(...names: (keyof typeof KEYS)[]): void {
  for (const name of names) void queryClient.invalidateQueries({ queryKey: KEYS[name] });
}

/** Reloads what shows memories. */
export function refreshMemories(): void {
  refresh("namespaces", "memories", "memory", "count");
}
