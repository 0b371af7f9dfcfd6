import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../../api";
import { bytes, count, counted } from "../../format";
import { linkTo } from "../../route";
import type { Chosen } from "./listing";

export interface TotalsProps {
  readonly namespace: string;
  readonly chosen: Chosen;
  onShowSuperseded(): void;
}

/** Shows how many memories are chosen, which of the namespace's others are not, and how large it is. */
export function Totals({ namespace, chosen, onShowSuperseded }: TotalsProps) {
  const { data: listed } = useQuery(memories.countMemories, { namespace, ...chosen });
  const { data: all } = useQuery(memories.countMemories, { namespace, includeSuperseded: true });
  // Names are in the order of their bytes, so this one comes first of those that begin with it.
  const { data: named } = useQuery(memories.listNamespaces, { prefix: namespace, pageSize: 1 });
  const held = named?.namespaces.find((each) => each.namespace === namespace);
  const left = listed && all ? all.memories - listed.memories : 0;
  return (
    <>
      <a href={linkTo("memories")}>All namespaces</a>
      {listed &&
        chosen.filter &&
        ` · ${count(listed.memories)} of ${counted(listed.memories + left, "memory", "memories")} match the filter`}
      {listed && !chosen.filter && ` · ${counted(listed.memories, "memory", "memories")}`}
      {!chosen.filter && left > 0 && (
        <>
          {" and "}
          <button type="button" className="button-link" onClick={onShowSuperseded}>
            {count(left)} superseded
          </button>
        </>
      )}
      {held && ` · ${bytes(held.bytes)}`}
    </>
  );
}
