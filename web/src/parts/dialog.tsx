import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { useAskBeforeBack, useAskBeforeLeaving } from "./ask-before-leaving";
import { Icon } from "./icon";

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Called to close the dialog. Without it, only the dialog's own buttons close it. */
  readonly onClose?: () => void;
  /** Question that comes before Esc, Close, Back or a click outside closes it, while that would lose something. */
  readonly question?: string | undefined;
  readonly className?: string;
}

/** The second click of a double click comes no later; operating systems wait as long. */
const DOUBLE_CLICK_MS = 500;

/** A modal dialog that is open as long as it is rendered. The element itself keeps the focus inside. */
export function Dialog({ title, children, onClose, question, className = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const left = useRef(false);
  const heading = useId();
  const stay = onClose === undefined;
  const [opening, setOpening] = useState(true);
  useAskBeforeLeaving(question !== undefined);
  useAskBeforeBack(question);
  /** Closes it, if that is what the user wants. */
  const close = () => {
    if (question !== undefined && !confirm(question)) return false;
    onClose?.();
    return true;
  };
  // A double click on what opens the dialog ends outside it, and would close it again.
  useEffect(() => {
    const timer = setTimeout(() => setOpening(false), DOUBLE_CLICK_MS);
    return () => clearTimeout(timer);
  }, []);
  // Closing returns the focus only while the element is still in the document.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    // Without this the button that closes it would have the focus.
    const field = element?.querySelector<HTMLElement>("input, textarea, select");
    (field ?? element?.querySelector<HTMLElement>("h2"))?.focus();
    left.current = false;
    return () => {
      left.current = true;
      element?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`dialog ${className}`}
      aria-labelledby={heading}
      closedby={stay ? "none" : opening ? "closerequest" : "any"}
      onKeyDown={(event) => {
        // A second Esc closes even a dialog that cancelled the first one, and those below, so the key itself is
        // cancelled.
        if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
        if (stay || question !== undefined) event.preventDefault();
        if (question !== undefined) close();
      }}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        close();
      }}
      onClose={({ target, currentTarget }) => {
        // The event also comes for a nested dialog, when this dialog was reopened meanwhile, and when it left with
        // its page: then nobody has closed it.
        if (currentTarget.open || target !== currentTarget || left.current) return;
        if (stay || !close()) reopen(currentTarget);
      }}
    >
      <header className="dialog-head">
        <h2 id={heading} tabIndex={-1}>
          {title}
        </h2>
        {!stay && (
          <button type="button" className="button-plain button-icon" aria-label="Close" onClick={close}>
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
