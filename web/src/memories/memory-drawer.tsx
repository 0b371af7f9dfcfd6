import { useState } from "react";
import type { Memory } from "../api";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useRights } from "../session/rights";
import { CorrectMemory } from "./correct-memory";
import { DeleteMemory } from "./delete-memory";
import { EditMemory } from "./edit-memory";
import { MemoryFacts } from "./memory-facts";

export interface MemoryDrawerProps {
  readonly namespace: string;
  readonly memory: Memory;
  onDeleted(): void;
  onClose(): void;
}

type Action = "edit" | "correct" | "delete";

/** Shows one memory in full at the side of the screen, and what can be done with it. */
export function MemoryDrawer({ namespace, memory, onDeleted, onClose }: MemoryDrawerProps) {
  const [action, setAction] = useState<Action>();
  const end = () => setAction(undefined);
  // One that was superseded is history, which only can be deleted.
  const isCurrent = memory.supersededBy === undefined;
  const { writes } = useRights();
  return (
    <Dialog title="Memory" className="drawer" onClose={onClose}>
      <div className="stack">
        <MemoryFacts namespace={namespace} memory={memory} />
        {writes && <Actions isCurrent={isCurrent} onChoose={setAction} />}
      </div>
      {action === "edit" && <EditMemory namespace={namespace} memory={memory} onClose={end} />}
      {action === "correct" && <CorrectMemory namespace={namespace} memory={memory} onClose={end} />}
      {action === "delete" && (
        <DeleteMemory
          namespace={namespace}
          id={memory.id}
          onDeleted={onDeleted}
          onDone={onClose}
          onClose={end}
        />
      )}
    </Dialog>
  );
}

function Actions({ isCurrent, onChoose }: { isCurrent: boolean; onChoose(action: Action): void }) {
  return (
    <div className="actions">
      {isCurrent && (
        <>
          <button type="button" onClick={() => onChoose("edit")}>
            Edit
          </button>
          <button type="button" onClick={() => onChoose("correct")}>
            Supersede
          </button>
        </>
      )}
      <button type="button" className="button-danger-quiet" onClick={() => onChoose("delete")}>
        <Icon name="trash" /> Delete
      </button>
    </div>
  );
}
