import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../api";
import { KeyNote, READ_ONLY } from "../parts/key-note";
import { Loading } from "../parts/page";
import { type Rights, useRights } from "../session/rights";
import { FirstCall } from "./first-call";
import { QuickStart } from "./quick-start";
import { SampleKeyNote, useSampleKey } from "./sample-key";
import { NAMESPACE } from "./samples";

/** Shows first steps that the key in use may take. */
export function FirstSteps() {
  const apiKey = useSampleKey();
  const { rights, namespace } = useSteps();
  if (namespace === undefined) return <Loading />;
  return (
    <section className="card stack">
      <Explanation rights={rights} />
      <SampleKeyNote />
      <QuickStart apiKey={apiKey} namespace={namespace} stores={rights.writes} />
      <FirstCall />
    </section>
  );
}

/** Chooses the namespace of the samples: the key's own; for keys that cannot store, one that holds something. */
function useSteps(): { rights: Rights; namespace: string | undefined } {
  const rights = useRights();
  const { manages, readsOnly, namespace } = rights;
  const looks = readsOnly && namespace === undefined;
  const { data, error } = useQuery(memories.listNamespaces, { pageSize: 1 }, { enabled: looks });
  if (namespace !== undefined || manages) return { rights, namespace: namespace ?? NAMESPACE };
  const found = data || error ? (data?.namespaces[0]?.namespace ?? NAMESPACE) : undefined;
  return { rights, namespace: found };
}

function Explanation({ rights: { readsOnly, namespace } }: { rights: Rights }) {
  const only = namespace !== undefined && (
    <>
      The samples use the namespace <bdi className="mono breakable">{namespace}</bdi>, the only one of this
      key.
    </>
  );
  if (readsOnly) {
    return (
      <KeyNote title={READ_ONLY}>
        So the samples only recall. To store memories, use a key with full access. {only}
      </KeyNote>
    );
  }
  return only && <KeyNote title="This key is for one namespace">{only}</KeyNote>;
}
