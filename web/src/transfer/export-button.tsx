import { useEffect, useRef, useState } from "react";
import { ErrorNote } from "../errors";
import { count } from "../format";
import { exportNamespace, save } from "./export-namespace";

/** Saves all memories of a namespace as a file. */
export function ExportButton({ namespace }: { namespace: string }) {
  const [done, setDone] = useState<number>();
  const [error, setError] = useState<unknown>();
  const stopping = useRef<AbortController>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);
  const run = async () => {
    const stop = new AbortController();
    stopping.current = stop;
    setError(undefined);
    setDone(0);
    try {
      const blob = await exportNamespace(namespace, { signal: stop.signal, onProgress: setDone });
      save(blob, `${namespace.replace(/[^\p{L}\p{N}._-]+/gu, "-")}.jsonl`);
    } catch (failure) {
      if (!stop.signal.aborted) setError(failure);
    } finally {
      setDone(undefined);
    }
  };
  if (error) return <ErrorNote error={error} />;
  if (done === undefined) {
    return (
      <button type="button" onClick={run}>
        Export
      </button>
    );
  }
  return (
    <button type="button" onClick={() => stopping.current?.abort()}>
      <span role="status">Exporting, {count(done)} so far</span> · Stop
    </button>
  );
}
