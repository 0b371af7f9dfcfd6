import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { memories } from "../api";

/** Number of namespaces that are suggested at a time, those that begin with what is typed. */
const SUGGESTED_MAX = 100;

/** Suggests namespaces for a field whose `list` is this id, unless the key is for one alone. */
export function NamespaceSuggestions({ id, typed, off }: { id: string; typed: string; off?: boolean }) {
  const prefix = useDeferredValue(typed);
  const { data } = useQuery(
    memories.listNamespaces,
    { pageSize: SUGGESTED_MAX, prefix },
    { retry: false, placeholderData: keepPreviousData, enabled: off !== true },
  );
  return (
    <datalist id={id}>
      {data?.namespaces.map(({ namespace: name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}
