import { NamespacePage } from "./namespace-page";
import { NamespacesPage } from "./namespaces-page";

/** Pages of `#/memories` and `#/memories/<namespace>`. */
export function MemoriesPage({ rest: [namespace] }: { rest: readonly string[] }) {
  return namespace ? <NamespacePage key={namespace} namespace={namespace} /> : <NamespacesPage />;
}
