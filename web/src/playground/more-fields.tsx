import { useId } from "react";
import { OptionalFields } from "../parts/optional-fields";
import type { MoreOptions } from "./recall-request";

export interface MoreFieldsProps {
  readonly more: MoreOptions;
  /** True if the key may search this namespace alone. */
  readonly isLimited: boolean;
  onChange(more: MoreOptions): void;
}

/** Fields for what a recall seldom asks for: other questions and namespaces, age, neighbors, length. */
export function MoreFields({ more, isLimited, onChange }: MoreFieldsProps) {
  const field = (name: keyof MoreOptions) => ({
    value: more[name],
    onChange: (value: string) => onChange({ ...more, [name]: value }),
  });
  return (
    <OptionalFields summary="More">
      <div className="stack">
        <Lines label="Ask also, one a line" hint="Each costs one call." {...field("questions")} />
        {!isLimited && <Lines label="Search also in, one name a line" {...field("alsoIn")} />}
        <fieldset className="floors">
          <legend>Newer memories higher</legend>
          <NumberField label="Half-life in days" min={0} {...field("halfLife")} />
          <NumberField label="Weight, 0 to 0.5" min={0} max={0.5} {...field("weight")} />
        </fieldset>
        <fieldset className="floors">
          <legend>Neighbors of each result</legend>
          <NumberField label="Before, 0 to 5" min={0} max={5} step={1} {...field("before")} />
          <NumberField label="After, 0 to 5" min={0} max={5} step={1} {...field("after")} />
          <PathField label="Same value at" {...field("same")} />
        </fieldset>
        <div className="floors">
          <NumberField label="Tokens of all results" min={1} step={1} {...field("maxTokens")} />
        </div>
      </div>
    </OptionalFields>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  onChange(value: string): void;
}

function Lines({ label, hint, value, onChange }: FieldProps & { hint?: string }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={2}
        dir="auto"
        aria-describedby={hint && `${id}-hint`}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

interface NumberFieldProps extends FieldProps {
  readonly min: number;
  readonly max?: number;
  readonly step?: number | "any";
}

export function NumberField({ label, onChange, step = "any", ...field }: NumberFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="number" step={step} {...field} onChange={({ target }) => onChange(target.value)} />
    </div>
  );
}

function PathField({ label, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="mono"
        placeholder="session"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}
