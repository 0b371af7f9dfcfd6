import type { ReactNode } from "react";

/** Region that scrolls sideways on narrow screens. It takes the focus, so that keyboards can scroll it. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a <fieldset> is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls needs the focus
    <div role="group" className="scroll" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
