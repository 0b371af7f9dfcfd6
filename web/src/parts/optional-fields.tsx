import type { ReactNode } from "react";

interface OptionalFieldsProps {
  readonly summary: string;
  readonly children: ReactNode;
}

/** Part of a form that is closed, and opens when the form is sent while a field in it is wrong: nobody would see why. */
export function OptionalFields({ summary, children }: OptionalFieldsProps) {
  const open = ({ currentTarget }: { currentTarget: HTMLDetailsElement }) => {
    currentTarget.open = true;
  };
  return (
    <details onInvalidCapture={open}>
      <summary>{summary}</summary>
      {children}
    </details>
  );
}
