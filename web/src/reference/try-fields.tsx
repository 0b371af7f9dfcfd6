import { useId } from "react";
import type { Parameter } from "./openapi";
import { IDEMPOTENCY_KEY, newIdempotencyKey } from "./send";

export interface TryFieldsProps {
  readonly parameters: readonly Parameter[];
  readonly values: Readonly<Record<string, string>>;
  /** Text of the body; undefined for calls without one. */
  readonly body: string | undefined;
  onValues(values: Readonly<Record<string, string>>): void;
  onBody(body: string): void;
}

/** Fields for what a call takes: in its path, its query, its headers and its body. */
export function TryFields({ parameters, values, body, onValues, onBody }: TryFieldsProps) {
  const id = useId();
  const set = (name: string, value: string) => onValues({ ...values, [name]: value });
  return (
    <>
      {parameters.map(({ name, required = false }) => (
        <div key={name} className="field">
          <label htmlFor={id + name}>{name}</label>
          <input
            id={id + name}
            required={required}
            autoComplete="off"
            spellCheck={false}
            value={values[name] ?? ""}
            onChange={(event) => set(name, event.target.value)}
          />
          {name === IDEMPOTENCY_KEY && (
            <p className="hint">
              Sent again with the same key, the call is not done twice.{" "}
              <button type="button" className="button-link" onClick={() => set(name, newIdempotencyKey())}>
                New key
              </button>
            </p>
          )}
        </div>
      ))}
      {body !== undefined && (
        <div className="field">
          <label htmlFor={`${id}body`}>Body</label>
          <textarea
            id={`${id}body`}
            className="mono"
            rows={Math.min(body.split("\n").length + 1, 14)}
            spellCheck={false}
            value={body}
            onChange={(event) => onBody(event.target.value)}
          />
        </div>
      )}
    </>
  );
}
