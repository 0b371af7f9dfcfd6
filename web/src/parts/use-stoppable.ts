import { useEffect, useRef, useState } from "react";
import { noteFailure } from "../session/client";

/** Runs work that can be stopped, also by the component's end. Keeps the error with which it failed. */
export function useStoppable() {
  const [error, setError] = useState<unknown>();
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);
  const run = async (work: (signal: AbortSignal) => Promise<void>) => {
    const stop = new AbortController();
    stopping.current = stop;
    setError(undefined);
    try {
      await work(stop.signal);
    } catch (failure) {
      if (stop.signal.aborted) return;
      noteFailure(failure);
      setError(failure);
    }
  };
  return { error, run, stop: () => stopping.current?.abort() };
}
