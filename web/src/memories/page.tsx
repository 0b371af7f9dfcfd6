import { useRights } from "../session/rights";
import { NamespacePage } from "./namespace-page";
import { NamespacesPage } from "./namespaces-page";
import { OtherNamespace } from "./other-namespace";

/** Pages of `#/memories`, `#/memories/<namespace>` and `#/memories/<namespace>/<memory>`. */
export function MemoriesPage({ rest: [namespace, opened] }: { rest: readonly string[] }) {
  const { namespace: only } = useRights();
  if (!namespace) return <NamespacesPage />;
  if (only !== undefined && only !== namespace) return <OtherNamespace namespace={namespace} only={only} />;
  return <NamespacePage key={namespace} namespace={namespace} opened={opened} />;
}
