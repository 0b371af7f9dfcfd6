import { Code } from "@connectrpc/connect";
import { type FormEvent, type ReactNode, useEffect, useId, useState } from "react";
import { accounts, memories, type RecentCall } from "../api";
import { NamespaceSuggestions } from "../parts/namespace-suggestions";
import type { Query } from "../route";
import { useRights } from "../session/rights";
import type { KeyNames } from "./key-names";

/** Outcome that stands for all but `ok`. */
export const ERRORS = "errors";
const OK = "ok";
/** Names of errors, as the contract writes them: `InvalidArgument` is `invalid_argument`. */
const ERROR_CODES = Object.values(Code)
  .filter((name) => typeof name === "string")
  .map((name) => name.replace(/\B[A-Z]/g, "_$&").toLowerCase())
  .sort();
const METHODS = [memories, accounts]
  .flatMap((methods) => Object.values(methods))
  .map(({ name }) => name)
  .sort();

/** Choice of calls, which stands in the address; each is empty for all. */
export interface CallFilter {
  /** Name of a method, `Recall`. */
  readonly call: string;
  /** Name of an outcome, or `errors`. */
  readonly code: string;
  /** Id of a key. */
  readonly key: string;
  readonly namespace: string;
}

export function filterOf({ call = "", code = "", key = "", namespace = "" }: Query): CallFilter {
  return { call, code, key, namespace };
}

export function queryOf(filter: CallFilter): Query {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

/** Writes a choice as the API takes it. */
export function requestOf({ call, code, key, namespace }: CallFilter) {
  return {
    errorsOnly: code === ERRORS,
    ...(call !== "" && { method: call }),
    ...(code !== "" && code !== ERRORS && { code }),
    ...(key !== "" && { keyId: key }),
    ...(namespace !== "" && { namespace }),
  };
}

export function methodOf({ method }: RecentCall): string {
  return method.split("/").at(-1) ?? method;
}

export interface FilterFieldsProps {
  readonly filter: CallFilter;
  readonly keys: KeyNames;
  onChange(filter: CallFilter): void;
}

/** Chooses calls by method, outcome, key and namespace. A key for one namespace sees its own calls alone. */
export function FilterFields({ filter, keys, onChange }: FilterFieldsProps) {
  const { namespace: only } = useRights();
  const keyIds = [...new Set([...keys.ids, filter.key])].filter((id) => id !== "");
  return (
    <div className="call-filter">
      <Choice label="Call" value={filter.call} onChange={(call) => onChange({ ...filter, call })}>
        {METHODS.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Choice label="Outcome" value={filter.code} onChange={(code) => onChange({ ...filter, code })}>
        <option>{OK}</option>
        <option value={ERRORS}>errors only</option>
        {ERROR_CODES.map((code) => (
          <option key={code}>{code}</option>
        ))}
      </Choice>
      {only === undefined && (
        <>
          <Choice label="Key" value={filter.key} onChange={(key) => onChange({ ...filter, key })}>
            {keyIds.map((id) => (
              <option key={id} value={id}>
                {keys.nameOf(id)}
              </option>
            ))}
          </Choice>
          <NamespaceChoice
            value={filter.namespace}
            onChange={(namespace) => onChange({ ...filter, namespace })}
          />
        </>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly children: ReactNode;
  onChange(value: string): void;
}

function Choice({ label, value, children, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">all</option>
        {children}
      </select>
    </div>
  );
}

/** Takes a namespace when it is sent by Enter, chosen from the suggestions, or left. */
function NamespaceChoice({ value, onChange }: Pick<ChoiceProps, "value" | "onChange">) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const send = () => {
    if (typed !== value) onChange(typed);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  return (
    <form method="post" className="field" onSubmit={submit}>
      <label htmlFor="call-namespace">Namespace</label>
      <input
        id="call-namespace"
        type="search"
        dir="auto"
        list="call-namespaces"
        placeholder="all"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={send}
      />
      <NamespaceSuggestions id="call-namespaces" typed={typed} />
    </form>
  );
}
