import { type DragEvent, useState } from "react";
import { ErrorNote } from "../errors";
import { count } from "../format";
import { Dialog } from "../parts/dialog";
import { useStoppable } from "../parts/use-stoppable";
import { refresh, refreshMemories } from "../session/refresh";
import { importFile, NOTHING, type Progress } from "./import-file";

export interface ImportDialogProps {
  readonly namespace: string;
  onClose(): void;
}

/** Stores the memories of a file that is chosen or dropped. */
export function ImportDialog({ namespace, onClose }: ImportDialogProps) {
  const { progress, error, run } = useImport(namespace);
  const isRunning = progress !== undefined && progress.share < 1 && !error;
  const drop = (event: DragEvent) => {
    event.preventDefault();
    run(event.dataTransfer.files[0]);
  };
  return (
    <Dialog title="Import memories" onClose={onClose}>
      <div className="stack">
        <p>
          A JSON Lines file, such as an export: each line is an object with a <code>text</code>, and maybe{" "}
          <code>metadata</code> and <code>external_id</code>. Memories with an external id, or the id of an
          export, are stored once, however often you import them. Each costs one call.
        </p>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the field inside does the same for all */}
        <div className="field drop-zone" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
          <label htmlFor="import-file">File; you can drop it here</label>
          <input
            id="import-file"
            type="file"
            accept=".jsonl,.ndjson,.json,.txt"
            disabled={isRunning}
            onChange={({ target }) => run(target.files?.[0])}
          />
        </div>
        {progress && <Done progress={progress} />}
        <ErrorNote error={error} />
        <div className="actions">
          <button type="button" onClick={onClose}>
            {isRunning ? "Stop" : "Close"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Runs imports; the one that runs is stopped when the dialog closes. */
function useImport(namespace: string) {
  const [progress, setProgress] = useState<Progress>();
  const { error, run } = useStoppable();
  const read = (file: File) => async (signal: AbortSignal) => {
    setProgress(NOTHING);
    try {
      await importFile(file, { namespace, signal, onProgress: setProgress });
    } finally {
      refresh("account", "usage");
      refreshMemories();
    }
  };
  return { progress, error, run: (file: File | undefined) => file && run(read(file)) };
}

function Done({ progress: { share, stored, already, refused, problems } }: { progress: Progress }) {
  return (
    <div className="stack">
      <progress aria-label="Part of the file that is read" value={share} max={1} />
      <p role="status">
        {count(stored)} stored, {count(already)} there already, {count(refused)} refused
      </p>
      {problems.length > 0 && (
        <ul className="problems">
          {problems.map((problem, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows
            <li key={i}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
