import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";

/** A button with a panel below it, which lies over the page until the user turns to something else. */
export function DropDown({ label, children }: { label: string; children: ReactNode }) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const stop = new AbortController();
    addEventListener("pointerdown", ({ target }) => closeUnlessIn(details.current, target as Element), {
      signal: stop.signal,
    });
    return () => stop.abort();
  }, []);
  return (
    <details
      ref={details}
      className="drop-down"
      onKeyDown={closeByEscape}
      onBlur={({ relatedTarget }) => relatedTarget && closeUnlessIn(details.current, relatedTarget)}
    >
      <summary className="button">{label}</summary>
      <div className="drop-down-panel stack">{children}</div>
    </details>
  );
}

/** Closes the panel, but not for a dialog that it has opened: the focus returns from there. */
function closeUnlessIn(details: HTMLDetailsElement | null, target: Element): void {
  if (details && !details.contains(target) && !target.closest("dialog")) details.open = false;
}

function closeByEscape({ key, currentTarget }: KeyboardEvent<HTMLDetailsElement>): void {
  if (key !== "Escape") return;
  currentTarget.open = false;
  currentTarget.querySelector("summary")?.focus();
}
