import { NamespacePage } from "./namespace-page";
import { NamespacesPage } from "./namespaces-page";

/** `#/memories`, `#/memories/<namespace>` */
export function MemoriesPage({ rest: [namespace] }: { rest: readonly string[] }) {
  return namespace ? <NamespacePage key={namespace} namespace={namespace} /> : <NamespacesPage />;
}
