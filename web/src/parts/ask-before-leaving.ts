import { useEffect } from "react";

/** The question that comes before something unsaved is lost, and the entry of the history that shows it. */
interface Unsaved {
  readonly question: string;
  readonly href: string;
  readonly state: unknown;
}

let unsaved: Unsaved | undefined;

/** True while something that is written on the page is saved nowhere. */
export function hasUnsaved(): boolean {
  return unsaved !== undefined;
}

/** Notes that nothing is unsaved any more, before the page itself goes on to another one. */
export function forgetUnsaved(): void {
  unsaved = undefined;
}

/** Asks a question before Back, or an address that is typed in, leads away. */
export function useAskBeforeBack(question: string | undefined): void {
  useEffect(() => {
    if (question === undefined) return;
    unsaved = { question, href: location.href, state: history.state };
    return forgetUnsaved;
  }, [question]);
}

// This comes before `hashchange`, by which pages are shown.
addEventListener("popstate", () => {
  if (unsaved === undefined || location.href === unsaved.href || confirm(unsaved.question)) return;
  // The history does not tell which way it went; on top of where it came to, the same page is right for Back.
  history.pushState(unsaved.state, "", unsaved.href);
});

/** Lets the browser ask before the page is left or loaded anew, while that would lose something. */
export function useAskBeforeLeaving(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isUnsaved]);
}
