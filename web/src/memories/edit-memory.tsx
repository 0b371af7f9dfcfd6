import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { type Memory, memories } from "../api";
import { ErrorNote } from "../errors";
import { whileBusy } from "../parts/busy";
import { Dialog } from "../parts/dialog";
import { MetadataField, TextField } from "../parts/fields";
import { parseMetadata } from "../playground/metadata";
import { refresh, refreshMemories } from "../session/refresh";
import { changesOf, draftOf } from "./changes";

export const DISCARD = "Discard your changes?";

export interface EditMemoryProps {
  readonly namespace: string;
  readonly memory: Memory;
  onClose(): void;
}

/** Changes a memory's text, metadata and expiry. Someone else's change meanwhile is not overwritten. */
export function EditMemory({ namespace, memory: opened, onClose }: EditMemoryProps) {
  // The list below may load a newer version meanwhile, on which these changes are not based.
  const [memory] = useState(opened);
  const before = draftOf(memory);
  const [text, setText] = useState(before.text);
  const [json, setJson] = useState(JSON.stringify(before.metadata, null, 2));
  const [expires, setExpires] = useState(before.expires);
  const update = useMutation(memories.updateMemory, {
    onSuccess: () => {
      refresh("account", "usage");
      refreshMemories();
      onClose();
    },
  });
  const metadata = parseMetadata(json) ?? {};
  const changes = typeof metadata === "object" ? changesOf(memory, { text, metadata, expires }) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { id, etag } = memory;
    if (changes) update.mutate({ namespace, id, etag, ...changes });
  };
  // Metadata that cannot be read has been changed, too.
  const isChanged = changes?.updateMask.paths.length !== 0;
  return (
    <Dialog title="Edit memory" onClose={onClose} question={isChanged ? DISCARD : undefined}>
      <form method="post" className="stack" onSubmit={submit}>
        <TextField id="edit-text" label="Text" value={text} onChange={setText} />
        <MetadataField
          id="edit-metadata"
          label="Metadata, a JSON object"
          parsed={metadata}
          value={json}
          onChange={setJson}
        />
        <div className="field">
          <label htmlFor="edit-expires">Expires; empty for never</label>
          <input
            id="edit-expires"
            type="datetime-local"
            value={expires}
            onChange={(event) => setExpires(event.target.value)}
          />
        </div>
        <p className="quiet">A new text costs one call. The old one is deleted.</p>
        <ErrorNote error={update.error} />
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" disabled={!changes || !isChanged} {...whileBusy(update.isPending)}>
            {update.isPending ? "Saving…" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
