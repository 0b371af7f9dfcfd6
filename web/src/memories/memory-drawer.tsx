import { useState } from "react";
import type { Memory } from "../api";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { DeleteMemory } from "./delete-memory";
import { MemoryFacts } from "./memory-facts";

export interface MemoryDrawerProps {
  readonly namespace: string;
  readonly memory: Memory;
  onDeleted?(): void;
  onClose(): void;
}

/** Shows one memory in full at the side of the screen. */
export function MemoryDrawer({ namespace, memory, onDeleted, onClose }: MemoryDrawerProps) {
  const [deleting, setDeleting] = useState(false);
  return (
    <Dialog title="Memory" className="drawer" onClose={onClose}>
      <div className="stack">
        <MemoryFacts memory={memory} />
        <div className="actions">
          <button type="button" className="button-danger-quiet" onClick={() => setDeleting(true)}>
            <Icon name="trash" /> Delete
          </button>
        </div>
      </div>
      {deleting && (
        <DeleteMemory
          namespace={namespace}
          id={memory.id}
          onDeleted={() => {
            onClose();
            onDeleted?.();
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </Dialog>
  );
}
