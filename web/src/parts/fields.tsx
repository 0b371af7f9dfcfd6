import type { JsonObject } from "@bufbuild/protobuf";

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  onChange(value: string): void;
}

/** Field for a memory's text. */
export function TextField({ onChange, label, ...field }: FieldProps) {
  return (
    <div className="field">
      <label htmlFor={field.id}>{label}</label>
      <textarea required rows={5} dir="auto" {...field} onChange={({ target }) => onChange(target.value)} />
    </div>
  );
}

export interface MetadataFieldProps extends FieldProps {
  /** The object that the text is parsed as, or a sentence with the problem. */
  readonly parsed: JsonObject | string | undefined;
}

/** Field for metadata as JSON. */
export function MetadataField({ onChange, label, parsed, ...field }: MetadataFieldProps) {
  const isWrong = typeof parsed === "string";
  return (
    <div className="field">
      <label htmlFor={field.id}>{label}</label>
      <textarea
        ref={(field) => field?.setCustomValidity(isWrong ? parsed : "")}
        className="mono"
        rows={4}
        spellCheck={false}
        aria-invalid={isWrong}
        aria-describedby={`${field.id}-problem`}
        {...field}
        onChange={({ target }) => onChange(target.value)}
      />
      <p id={`${field.id}-problem`} className="problem" aria-live="polite">
        {isWrong && parsed}
      </p>
    </div>
  );
}
