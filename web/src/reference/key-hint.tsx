import { useRights } from "../session/rights";
import type { Call } from "./calls";
import { type Document, resolve } from "./openapi";

/** Shows beforehand what the key in use may not do, as far as the call's own errors tell. */
export function KeyHint({ document, call }: { document: Document; call: Call }) {
  const { readsOnly, namespace } = useRights();
  const refusal = call.responses?.["403"];
  const { description = "" } = refusal ? resolve(document, refusal) : {};
  if (readsOnly && description.includes("KEY_READ_ONLY"))
    return <p className="hint">Your key may only read, so the server refuses this call.</p>;
  if (namespace === undefined || !description.includes("KEY_OTHER_NAMESPACE")) return null;
  return (
    <p className="hint">
      Your key is for the namespace <bdi className="mono breakable">{namespace}</bdi> alone.
    </p>
  );
}
