import { useState } from "react";
import type { Memory } from "../api";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { CorrectMemory } from "./correct-memory";
import { DeleteMemory } from "./delete-memory";
import { EditMemory } from "./edit-memory";
import { MemoryFacts } from "./memory-facts";

export interface MemoryDrawerProps {
  readonly namespace: string;
  readonly memory: Memory;
  onDeleted?(): void;
  onClose(): void;
}

type Action = "edit" | "correct" | "delete";

/** Shows one memory in full at the side of the screen, and what can be done with it. */
export function MemoryDrawer({ namespace, memory, onDeleted, onClose }: MemoryDrawerProps) {
  const [action, setAction] = useState<Action>();
  const end = () => setAction(undefined);
  // One that was superseded is history, which only can be deleted.
  const isCurrent = memory.supersededBy === undefined;
  return (
    <Dialog title="Memory" className="drawer" onClose={onClose}>
      <div className="stack">
        <MemoryFacts {...{ namespace, memory }} />
        <div className="actions">
          {isCurrent && (
            <>
              <button type="button" onClick={() => setAction("edit")}>
                Edit
              </button>
              <button type="button" onClick={() => setAction("correct")}>
                Supersede
              </button>
            </>
          )}
          <button type="button" className="button-danger-quiet" onClick={() => setAction("delete")}>
            <Icon name="trash" /> Delete
          </button>
        </div>
      </div>
      {action === "edit" && <EditMemory {...{ namespace, memory }} onClose={end} />}
      {action === "correct" && <CorrectMemory {...{ namespace, memory }} onClose={end} />}
      {action === "delete" && (
        <DeleteMemory
          namespace={namespace}
          id={memory.id}
          onDeleted={() => {
            onClose();
            onDeleted?.();
          }}
          onClose={end}
        />
      )}
    </Dialog>
  );
}
