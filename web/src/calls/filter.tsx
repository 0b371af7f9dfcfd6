import { type ReactNode, useId } from "react";
import type { RecentCall } from "../api";
import type { Query } from "../route";

/** Outcome that stands for all but `ok`. */
export const ERRORS = "errors";

/** Choice of calls, which stands in the address; each is empty for all. */
export interface CallFilter {
  /** Name of a method, `Recall`. */
  readonly call: string;
  /** Name of an outcome, or `errors`. */
  readonly code: string;
  /** Id of a key. */
  readonly key: string;
}

export function filterOf({ call = "", code = "", key = "" }: Query): CallFilter {
  return { call, code, key };
}

export function queryOf(filter: CallFilter): Query {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

export function isChosen(call: RecentCall, filter: CallFilter): boolean {
  const isOfCode = filter.code === ERRORS ? call.code !== "ok" : matches(filter.code, call.code);
  return isOfCode && matches(filter.call, methodOf(call)) && matches(filter.key, call.keyId);
}

function matches(chosen: string, value: string): boolean {
  return chosen === "" || chosen === value;
}

export function methodOf({ method }: RecentCall): string {
  return method.split("/").at(-1) ?? method;
}

export interface FilterFieldsProps {
  readonly filter: CallFilter;
  /** Calls that are loaded, of which the choices are made. */
  readonly calls: readonly RecentCall[];
  nameOf(keyId: string): string;
  onChange(filter: CallFilter): void;
}

/** Chooses calls by method, outcome and key. */
export function FilterFields({ filter, calls, nameOf, onChange }: FilterFieldsProps) {
  const options = (chosen: string, pick: (call: RecentCall) => string) =>
    [...new Set([...calls.map(pick), chosen])].filter((value) => value !== "").sort();
  const codes = options(filter.code, ({ code }) => code).filter((code) => code !== ERRORS);
  return (
    <div className="call-filter">
      <Choice label="Call" value={filter.call} onChange={(call) => onChange({ ...filter, call })}>
        {options(filter.call, methodOf).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Choice>
      <Choice label="Outcome" value={filter.code} onChange={(code) => onChange({ ...filter, code })}>
        <option value={ERRORS}>errors only</option>
        {codes.map((code) => (
          <option key={code}>{code}</option>
        ))}
      </Choice>
      <Choice label="Key" value={filter.key} onChange={(key) => onChange({ ...filter, key })}>
        {options(filter.key, ({ keyId }) => keyId).map((id) => (
          <option key={id} value={id}>
            {nameOf(id)}
          </option>
        ))}
      </Choice>
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
