import type { ReactNode } from "react";

/** A wide thing that scrolls sideways on narrow screens; reachable by keyboard, so that it can be scrolled. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a <fieldset> is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls needs the focus
    <div role="group" className="scroll" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
