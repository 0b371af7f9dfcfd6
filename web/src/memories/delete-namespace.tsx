import { useMutation } from "@connectrpc/connect-query";
import { memories } from "../api";
import { counted } from "../format";
import { Confirm } from "../parts/confirm";
import { refreshMemories } from "../session/refresh";

export interface DeleteNamespaceProps {
  readonly namespace: string;
  /** Number of memories in it, if known. */
  readonly memories?: number;
  onDeleted?(): void;
  onClose(): void;
}

export function DeleteNamespace({ namespace, memories: held, onDeleted, onClose }: DeleteNamespaceProps) {
  const remove = useMutation(memories.deleteNamespace, { onSuccess: refreshMemories });
  // Nobody who has gone on meanwhile is taken back.
  const onSuccess = () => {
    onClose();
    onDeleted?.();
  };
  return (
    <Confirm
      title="Delete this namespace"
      action="Delete namespace"
      typed={namespace}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ namespace, force: true }, { onSuccess })}
      onClose={onClose}
    >
      <p>
        This deletes{" "}
        <strong className="clip">
          <bdi>{namespace}</bdi>
        </strong>{" "}
        and {held === undefined ? "all memories" : `the ${counted(held, "memory", "memories")}`} in it. This
        cannot be undone.
      </p>
    </Confirm>
  );
}
