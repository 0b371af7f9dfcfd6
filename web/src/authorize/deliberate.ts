import { useEffect, useRef, useState } from "react";

/** Time for which the page must have been in front: a second click that was meant for another page comes sooner. */
const DELAY_MS = 1_000;

/**
 * Guards a button against clicks that were meant for something else: a window that opens under the pointer, or
 * one of two clicks. `isReady` becomes true when the page has been in front for a while, again after each time
 * that it was not. `isDeliberate` says whether an event may count: then the pointer must also have moved since,
 * unless it touched, or a key was pressed.
 */
export function useDeliberate(): { isReady: boolean; isDeliberate(): boolean } {
  const [isReady, setReady] = useState(false);
  const seen = useRef({ isReady: false, isPresent: false });
  useEffect(() => {
    let timer: number | undefined;
    let pointerAt: string | undefined;
    const become = (ready: boolean) => {
      seen.current = { isReady: ready, isPresent: ready && seen.current.isPresent };
      setReady(ready);
    };
    const stop = () => {
      clearTimeout(timer);
      become(false);
      pointerAt = undefined;
    };
    const restart = () => {
      stop();
      if (document.visibilityState === "visible" && document.hasFocus())
        timer = window.setTimeout(() => become(true), DELAY_MS);
    };
    const onMove = ({ screenX, screenY }: PointerEvent) => {
      const at = `${screenX} ${screenY}`;
      // A page that opens under a pointer at rest is told of it as well.
      if (pointerAt !== undefined && pointerAt !== at) seen.current.isPresent = true;
      pointerAt = at;
    };
    const onTouch = ({ pointerType }: PointerEvent) => {
      if (pointerType !== "mouse") seen.current.isPresent ||= seen.current.isReady;
    };
    const onKey = (event: KeyboardEvent) => {
      // A key that was held down on another page presses nothing here.
      const presses = event.key === "Enter" || event.target instanceof HTMLButtonElement;
      if (event.repeat && presses) event.preventDefault();
    };
    const onClick = ({ detail }: MouseEvent) => {
      // Of a key or of a tool for accessibility.
      if (detail === 0) seen.current.isPresent ||= seen.current.isReady;
    };
    const listening = new AbortController();
    const listen = { capture: true, signal: listening.signal };
    window.addEventListener("focus", (event) => event.target === window && restart(), listen);
    window.addEventListener("blur", (event) => event.target === window && stop(), listen);
    document.addEventListener("visibilitychange", restart, listen);
    window.addEventListener("pointermove", onMove, listen);
    window.addEventListener("pointerdown", onTouch, listen);
    window.addEventListener("keydown", onKey, listen);
    window.addEventListener("click", onClick, listen);
    restart();
    return () => {
      listening.abort();
      clearTimeout(timer);
    };
  }, []);
  return { isReady, isDeliberate: () => seen.current.isReady && seen.current.isPresent };
}
