import { NamespacePage } from "./namespace-page";
import { NamespacesPage } from "./namespaces-page";

/** Pages of `#/memories`, `#/memories/<namespace>` and `#/memories/<namespace>/<memory>`. */
export function MemoriesPage({ rest: [namespace, opened] }: { rest: readonly string[] }) {
  if (!namespace) return <NamespacesPage />;
  return <NamespacePage key={namespace} namespace={namespace} opened={opened} />;
}
