import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { memories } from "../api";

/** Number of namespaces that are suggested at a time, those that begin with what is typed. */
const SUGGESTED_MAX = 100;

export interface NamespaceFieldProps {
  readonly namespace: string;
  /** The only namespace that the key may use, which cannot be changed then; undefined for all. */
  readonly only: string | undefined;
  onChange(namespace: string): void;
}

/** Field for a namespace, which suggests those that there are. */
export function NamespaceField({ namespace, only, onChange }: NamespaceFieldProps) {
  const prefix = useDeferredValue(namespace);
  const { data } = useQuery(
    memories.listNamespaces,
    { pageSize: SUGGESTED_MAX, prefix },
    { retry: false, placeholderData: keepPreviousData, enabled: only === undefined },
  );
  return (
    <div className="field field-short">
      <label htmlFor="namespace">Namespace</label>
      <input
        id="namespace"
        dir="auto"
        list="namespaces"
        autoComplete="off"
        spellCheck={false}
        readOnly={only !== undefined}
        aria-describedby="namespace-hint"
        value={namespace}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id="namespaces">
        {data?.namespaces.map(({ namespace: name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <p id="namespace-hint" className="hint">
        {only !== undefined && "Your key is for this namespace alone."}
      </p>
    </div>
  );
}
