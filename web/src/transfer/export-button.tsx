import { useState } from "react";
import { ErrorNote } from "../errors";
import { count } from "../format";
import { save } from "../parts/save";
import { useStoppable } from "../parts/use-stoppable";
import { exportNamespace } from "./export-namespace";

/** Saves all memories of a namespace as a file. */
export function ExportButton({ namespace }: { namespace: string }) {
  const [done, setDone] = useState<number>();
  const { error, run, stop } = useStoppable();
  const exportAll = async (signal: AbortSignal) => {
    setDone(0);
    try {
      const blob = await exportNamespace(namespace, { signal, onProgress: setDone });
      save(`${namespace.replace(/[^\p{L}\p{N}._-]+/gu, "-")}.jsonl`, blob);
    } finally {
      setDone(undefined);
    }
  };
  if (done === undefined) {
    return (
      <>
        <ErrorNote error={error} />
        <button type="button" onClick={() => run(exportAll)}>
          Export
        </button>
      </>
    );
  }
  return (
    <button type="button" onClick={stop}>
      <span role="status">Exporting, {count(done)} so far</span> · Stop
    </button>
  );
}
