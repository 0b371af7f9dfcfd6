import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { Confirm } from "../parts/confirm";
import { Loading } from "../parts/page";
import { SAMPLES_MAX, Samples } from "./delete-matching";
import { useDeletion } from "./use-deletion";

export interface DeleteSelectedProps {
  readonly namespace: string;
  readonly ids: readonly string[];
  onDeleted(): void;
  onClose(): void;
}

/** Shows what the selected memories are by now, and deletes them if one wants that. */
export function DeleteSelected({ namespace, ids, onDeleted, onClose }: DeleteSelectedProps) {
  const { data, error } = useQuery(memories.getMemories, { namespace, ids: [...ids] }, { staleTime: 0 });
  const { deleted, failure, run } = useDeletion({ namespace, ids: [...ids] }, () => {
    onDeleted();
    onClose();
  });
  const missing = data?.missing.length ?? 0;
  const left = ids.length - missing;
  const what = counted(left, "memory", "memories");
  return (
    <Confirm
      title="Delete what is selected"
      action={deleted === undefined ? `Delete ${what}` : `${counted(deleted, "memory", "memories")} deleted`}
      busy={data === undefined || left === 0 || deleted !== undefined}
      error={failure}
      onConfirm={run}
      onClose={onClose}
    >
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && (
        <>
          <p>
            This deletes {what}: texts, metadata and vectors. This cannot be undone.
            {missing > 0 && ` ${counted(missing, "other is", "others are")} gone already.`}
          </p>
          <Samples memories={data.memories} />
          {left > SAMPLES_MAX && <p className="hint">and {left - SAMPLES_MAX} more</p>}
        </>
      )}
    </Confirm>
  );
}
