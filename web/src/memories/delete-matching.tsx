import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { Confirm } from "../parts/confirm";
import { Loading } from "../parts/page";
import { useStoppable } from "../parts/use-stoppable";
import { memoryClient } from "../session/client";
import { refreshMemories } from "../session/refresh";

/** Memories that are shown before they are deleted. */
const SAMPLES_MAX = 5;

export interface DeleteMatchingProps {
  readonly namespace: string;
  readonly filter: JsonObject;
  readonly includeSuperseded: boolean;
  onClose(): void;
}

/** Shows how many memories a filter finds, and deletes them if one wants that. */
export function DeleteMatching({ onClose, ...matching }: DeleteMatchingProps) {
  const { mutate: look, data, error } = useMutation(memories.deleteMemories);
  const { deleted, failure, run } = useDeletion(matching, onClose);
  const { namespace, filter, includeSuperseded } = matching;
  useEffect(
    () => look({ namespace, filter, includeSuperseded, dryRun: true }),
    [look, namespace, filter, includeSuperseded],
  );
  return (
    <Confirm
      title="Delete what the filter finds"
      action={deleted === undefined ? "Delete memories" : `${counted(deleted, "memory", "memories")} deleted`}
      typed={namespace}
      busy={data === undefined || deleted !== undefined}
      error={failure}
      onConfirm={run}
      onClose={onClose}
    >
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && (
        <>
          <p>
            This erases {counted(data.matched ?? 0, "memory", "memories")} that{" "}
            <code className="breakable">{JSON.stringify(filter)}</code> finds. This cannot be undone. Among
            them:
          </p>
          <ul className="problems">
            {data.samples.slice(0, SAMPLES_MAX).map(({ id, text }) => (
              <li key={id} className="clip" dir="auto">
                {text}
              </li>
            ))}
          </ul>
        </>
      )}
    </Confirm>
  );
}

/** Deletes call by call until nothing is left, or the dialog closes. */
function useDeletion(matching: Omit<DeleteMatchingProps, "onClose">, onDone: () => void) {
  const [deleted, setDeleted] = useState<number>();
  const { error: failure, run } = useStoppable();
  const deleteAll = async (signal: AbortSignal) => {
    try {
      for (let sum = 0, more = true; more; setDeleted(sum)) {
        const answer = await memoryClient.deleteMemories(matching, { signal });
        sum += answer.deleted;
        more = answer.more;
      }
      onDone();
    } catch (error) {
      setDeleted(undefined);
      throw error;
    } finally {
      refreshMemories();
    }
  };
  return { deleted, failure, run: () => run(deleteAll) };
}
