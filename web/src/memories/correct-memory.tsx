import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { type Memory, memories } from "../api";
import { ErrorNote } from "../errors";
import { whileBusy } from "../parts/busy";
import { Dialog } from "../parts/dialog";
import { TextField } from "../parts/fields";
import { go } from "../route";
import { refresh, refreshMemories } from "../session/refresh";
import { DISCARD } from "./edit-memory";

export interface CorrectMemoryProps {
  readonly namespace: string;
  readonly memory: Memory;
  onClose(): void;
}

/** Stores a memory that supersedes another one: no recall finds the old one, and it is still there to read. */
export function CorrectMemory({ namespace, memory, onClose }: CorrectMemoryProps) {
  const [text, setText] = useState(memory.text);
  const store = useMutation(memories.store, {
    onSuccess: () => {
      refresh("account", "usage");
      refreshMemories();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { metadata } = memory;
    const request = { namespace, text, supersedes: [memory.id], ...(metadata && { metadata }) };
    // Nobody who has gone on meanwhile is taken back.
    store.mutate(request, {
      onSuccess: ({ id }) => {
        onClose();
        go("memories", namespace, id);
      },
    });
  };
  const isChanged = text !== memory.text;
  return (
    <Dialog title="Supersede memory" onClose={onClose} question={isChanged ? DISCARD : undefined}>
      <form method="post" className="stack" onSubmit={submit}>
        <p>
          What is true now? The new memory takes the place of this one in every recall. This one stays, with a
          mark, so that one can read what was true before.
        </p>
        <TextField id="correct-text" label="New text" value={text} onChange={setText} />
        <ErrorNote error={store.error} />
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" disabled={!isChanged} {...whileBusy(store.isPending)}>
            {store.isPending ? "Storing…" : "Store in its place"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
