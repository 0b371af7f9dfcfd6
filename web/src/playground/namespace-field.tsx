import { NamespaceSuggestions } from "../parts/namespace-suggestions";

export interface NamespaceFieldProps {
  readonly namespace: string;
  /** The only namespace that the key may use, which cannot be changed then; undefined for all. */
  readonly only: string | undefined;
  onChange(namespace: string): void;
}

/** Field for a namespace, which suggests those that there are. */
export function NamespaceField({ namespace, only, onChange }: NamespaceFieldProps) {
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
      <NamespaceSuggestions id="namespaces" typed={namespace} off={only !== undefined} />
      <p id="namespace-hint" className="hint">
        {only !== undefined && "Your key is for this namespace alone."}
      </p>
    </div>
  );
}
