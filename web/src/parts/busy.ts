import type { ButtonHTMLAttributes, MouseEvent } from "react";

/** Makes a button do nothing while its last click is answered. It keeps the focus, which `disabled` would lose. */
export function whileBusy(isBusy: boolean): ButtonHTMLAttributes<HTMLButtonElement> {
  return isBusy ? { "aria-disabled": true, onClickCapture: ignore } : {};
}

function ignore(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
