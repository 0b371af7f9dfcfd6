import { type DragEvent, useState } from "react";
import { MemoryError } from "../../../src/errors.js";
import { ErrorNote } from "../errors";
import { count } from "../format";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useStoppable } from "../parts/use-stoppable";
import { memoryClient } from "../session/client";
import { refresh, refreshMemories } from "../session/refresh";
import { importFile, NOTHING, type Progress } from "./import-file";

export interface ImportDialogProps {
  readonly namespace: string;
  onClose(): void;
}

/** Stores the memories of a file that is chosen or dropped. */
export function ImportDialog({ namespace, onClose }: ImportDialogProps) {
  const { progress, isRunning, error, run } = useImport(namespace);
  return (
    <Dialog
      title="Import memories"
      onClose={onClose}
      question={isRunning ? "Stop before all is imported?" : undefined}
    >
      <div className="stack">
        <p>
          An export of recalld, mem0, Chroma, Qdrant, Supermemory, server-memory, ChatGPT or Claude, or JSON
          Lines with a <code>text</code> in each. The file’s content tells which. Each memory that is stored
          costs one call; what is here already costs nothing.{" "}
          <a href="docs/command-line#moving-in">Where each file comes from</a>
        </p>
        <DropTarget isBusy={isRunning} onFile={run} />
        {progress && <Done progress={progress} isRunning={isRunning} />}
        {error instanceof MemoryError ? (
          <p className="problem" role="alert">
            {error.message}
          </p>
        ) : (
          <ErrorNote error={error} />
        )}
        <div className="actions">
          <button type="button" onClick={onClose}>
            {isRunning ? "Stop" : "Close"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Takes a file that is dropped, or chosen by a click or a key. */
function DropTarget({ isBusy, onFile }: { isBusy: boolean; onFile(file: File | undefined): void }) {
  const [isOver, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (!isBusy) onFile(event.dataTransfer.files[0]);
  };
  return (
    <label
      className="drop-zone"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="download" />
      <strong>Drop a file here, or choose one</strong>
      <input
        type="file"
        className="unseen"
        accept=".jsonl,.ndjson,.json,.txt"
        disabled={isBusy}
        onChange={({ target }) => {
          onFile(target.files?.[0]);
          // The same file can be chosen again.
          target.value = "";
        }}
      />
    </label>
  );
}

/** Runs imports; the one that runs is stopped when the dialog closes. */
function useImport(namespace: string) {
  const [progress, setProgress] = useState<Progress>();
  const [isRunning, setRunning] = useState(false);
  const { error, run } = useStoppable();
  const read = (file: File) => async (signal: AbortSignal) => {
    setProgress(NOTHING);
    setRunning(true);
    try {
      await importFile(file, { server: memoryClient, namespace, signal, onProgress: setProgress });
    } finally {
      setRunning(false);
      refresh("account", "usage");
      refreshMemories();
    }
  };
  return { progress, isRunning, error, run: (file: File | undefined) => file && run(read(file)) };
}

function Done({ progress, isRunning }: { progress: Progress; isRunning: boolean }) {
  const { from, total, done, stored, already, refused, problems } = progress;
  if (from === undefined) return isRunning && <p role="status">Reading the file…</p>;
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  return (
    <div className="stack">
      <div
        className="gauge"
        role="progressbar"
        aria-label="Memories that are done"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
      >
        <div style={{ inlineSize: `${percent}%` }} />
      </div>
      <p role="status">
        {count(done)} of {count(total)} of {from}: {count(stored)} stored, {count(already)} there already,{" "}
        {count(refused)} refused
      </p>
      {problems.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus
        <ul className="problems" tabIndex={0}>
          {problems.map((problem, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list only grows
            <li key={i}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
