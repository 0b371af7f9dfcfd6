import { useMutation } from "@connectrpc/connect-query";
import { memories } from "../api";
import { Confirm } from "../parts/confirm";
import { refreshMemories } from "../session/refresh";

export interface DeleteMemoryProps {
  readonly namespace: string;
  readonly id: string;
  onDeleted(): void;
  /** Closes the memory. */
  onDone(): void;
  onClose(): void;
}

export function DeleteMemory({ namespace, id, onDeleted, onDone, onClose }: DeleteMemoryProps) {
  const remove = useMutation(memories.deleteMemory, {
    onSuccess: () => {
      refreshMemories();
      onDeleted();
    },
  });
  return (
    <Confirm
      title="Delete this memory"
      action="Delete memory"
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ namespace, id }, { onSuccess: onDone })}
      onClose={onClose}
    >
      <p>Its text, metadata and vector are deleted. No recall finds it again. This cannot be undone.</p>
    </Confirm>
  );
}
