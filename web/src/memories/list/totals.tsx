import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../../api";
import { bytes, count, counted } from "../../format";
import { linkTo } from "../../route";
import type { Chosen } from "./listing";

/** Says how many memories are chosen, among how many, and how large they are. */
export function Totals({ namespace, chosen }: { namespace: string; chosen: Chosen }) {
  const { data } = useQuery(memories.countMemories, { namespace, ...chosen });
  // Names are in the order of their bytes, so this one comes first of those that begin with it.
  const { data: named } = useQuery(memories.listNamespaces, { prefix: namespace, pageSize: 1 });
  const held = named?.namespaces.find((each) => each.namespace === namespace);
  const chosenCount = data?.memories ?? 0;
  const isPart = held !== undefined && held.memories !== chosenCount;
  return (
    <>
      <a href={linkTo("memories")}>All namespaces</a>
      {data && ` · ${counted(chosenCount, "memory", "memories")}`}
      {data && isPart && ` of ${count(held.memories)}`}
      {held && ` · ${bytes(held.bytes)}`}
    </>
  );
}
