import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Icon } from "./icon";

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Absent: the dialog cannot be closed but by a button of its own. */
  readonly onClose?: () => void;
  readonly className?: string;
}

/** A modal dialog, open as long as it is rendered. The element itself keeps the focus inside. */
export function Dialog({ title, children, onClose, className = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const stay = onClose === undefined;
  // Before the element is taken out: only then does closing it give the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-labelledby={heading}
      closedby={stay ? "none" : "any"}
      // Esc pressed twice closes even a dialog that refused the first time: the key itself is refused.
      onKeyDown={(event) => stay && event.key === "Escape" && event.preventDefault()}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose?.();
      }}
      onClose={({ target, currentTarget }) => {
        // Says so, too, when it was closed to be opened again, and for a dialog inside.
        if (currentTarget.open || target !== currentTarget) return;
        if (stay) reopen(currentTarget);
        else onClose();
      }}
    >
      <header className="dialog-head">
        <h2 id={heading}>{title}</h2>
        {!stay && (
          <button type="button" className="button-plain button-icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}

function reopen(dialog: HTMLDialogElement): void {
  if (dialog.isConnected) dialog.showModal();
}
