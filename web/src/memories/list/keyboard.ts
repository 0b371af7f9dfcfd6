import type { KeyboardEvent } from "react";

/** Buttons of the rows, which keys move between. */
const ROWS = ".row";

/**
 * Moves the focus between rows by the arrow keys, Home and End. Returns the number of the row on which `x` was
 * pressed, which selects it.
 */
export function moveAmong(event: KeyboardEvent<HTMLElement>): number | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(ROWS)];
  const here = rows.indexOf(event.target as HTMLElement);
  if (here < 0) return undefined;
  const positions: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(here + 1, rows.length - 1),
    ArrowUp: Math.max(here - 1, 0),
    Home: 0,
    End: rows.length - 1,
  };
  const position = positions[event.key];
  if (position !== undefined) {
    event.preventDefault();
    rows[position]?.focus();
  }
  return event.key === "x" ? here : undefined;
}

/** Focuses a field when `/` is pressed outside of fields and dialogs. Returns what stops that. */
export function focusBySlash(fieldId: string): () => void {
  const onKeyDown = (event: globalThis.KeyboardEvent) => {
    const target = event.target as Element | null;
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target?.closest("input, textarea, select, dialog, [contenteditable]")) return;
    const field = document.getElementById(fieldId);
    if (!field) return;
    event.preventDefault();
    field.focus();
  };
  addEventListener("keydown", onKeyDown);
  return () => removeEventListener("keydown", onKeyDown);
}
