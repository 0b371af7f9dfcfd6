import { useMutation } from "@connectrpc/connect-query";
import { memories } from "../api";
import { counted } from "../format";
import { Confirm } from "../parts/confirm";
import { refreshMemories } from "../session/refresh";

export interface DropNamespaceProps {
  readonly namespace: string;
  /** Number of memories in it, if known. */
  readonly memories?: number;
  onDropped?(): void;
  onClose(): void;
}

export function DropNamespace({ namespace, memories: held, onDropped, onClose }: DropNamespaceProps) {
  const drop = useMutation(memories.deleteNamespace, {
    onSuccess: () => {
      refreshMemories();
      onClose();
      onDropped?.();
    },
  });
  return (
    <Confirm
      title="Drop a namespace"
      action="Drop namespace"
      typed={namespace}
      busy={drop.isPending}
      error={drop.error}
      onConfirm={() => drop.mutate({ namespace, force: true })}
      onClose={onClose}
    >
      <p>
        This erases <strong className="clip">{namespace}</strong> and{" "}
        {held === undefined ? "all memories" : `the ${counted(held, "memory", "memories")}`} in it. This
        cannot be undone.
      </p>
    </Confirm>
  );
}
