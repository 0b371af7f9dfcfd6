import { useRef, useState } from "react";

/** Measures a call's round trip in whole milliseconds. */
export function useTimed() {
  const started = useRef(0);
  const [ms, setMs] = useState<number>();
  const timed = {
    start: () => {
      started.current = performance.now();
    },
    end: () => setMs(Math.round(performance.now() - started.current)),
  };
  return { ms, timed };
}
