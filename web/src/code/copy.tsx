import { type RefObject, useEffect, useState } from "react";
import { Icon } from "../parts/icon";

type Outcome = "idle" | "copied" | "press";

export interface CopyButtonProps {
  readonly text: string;
  /** Name of the copied text for screen readers: `key`, `curl command`. */
  readonly what: string;
  readonly label?: string;
  readonly className?: string;
  /** Element that is selected when the browser forbids copying, so that Ctrl+C copies it. */
  readonly source: RefObject<HTMLElement | null>;
}

/**
 * Copies a text and tells whether that worked. Browsers offer no clipboard over plain HTTP: the button then
 * selects the text.
 */
export function CopyButton({ text, what, label = "Copy", className = "", source }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>("idle");
  useEffect(() => {
    if (outcome !== "copied") return;
    const timer = setTimeout(() => setOutcome("idle"), 2_500);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const copied = await writeClipboard(text);
    if (!copied) select(source.current);
    setOutcome(copied ? "copied" : "press");
  };
  return (
    <span className="copy">
      <button type="button" className={className} aria-label={`${label} ${what}`} onClick={copy}>
        <Icon name={outcome === "copied" ? "check" : "copy"} />
        {outcome === "copied" ? "Copied" : label}
      </button>
      <span className="copy-status" role="status">
        {outcome === "press" && `Selected. Press ${isApple() ? "⌘C" : "Ctrl+C"} to copy.`}
        {outcome === "copied" && <span className="unseen">{what} copied</span>}
      </span>
    </span>
  );
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function select(element: HTMLElement | null): void {
  if (element instanceof HTMLTextAreaElement) {
    element.focus();
    element.select();
  } else if (element) {
    element.focus();
    getSelection()?.selectAllChildren(element);
  }
}

function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}
