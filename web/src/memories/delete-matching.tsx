import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useEffect } from "react";
import { type Memory, memories } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { Confirm } from "../parts/confirm";
import { Loading } from "../parts/page";
import { useDeletion } from "./use-deletion";

/** Memories that are shown before they are deleted. */
export const SAMPLES_MAX = 5;

export interface DeleteMatchingProps {
  readonly namespace: string;
  readonly filter: JsonObject;
  readonly includeSuperseded: boolean;
  onClose(): void;
}

/** Shows how many memories a filter finds, and deletes them if one wants that. */
export function DeleteMatching({ onClose, ...matching }: DeleteMatchingProps) {
  const { mutate: preview, data, error } = useMutation(memories.deleteMemories);
  const { deleted, failure, run } = useDeletion(matching, onClose);
  const { namespace, filter, includeSuperseded } = matching;
  useEffect(
    () => preview({ namespace, filter, includeSuperseded, dryRun: true }),
    [preview, namespace, filter, includeSuperseded],
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
            This deletes {counted(data.matched ?? 0, "memory", "memories")} that{" "}
            <code className="breakable">{JSON.stringify(filter)}</code> finds. This cannot be undone. Among
            them:
          </p>
          <Samples memories={data.samples} />
        </>
      )}
    </Confirm>
  );
}

/** Shows the first of the memories that are to be deleted. */
export function Samples({ memories }: { readonly memories: readonly Pick<Memory, "id" | "text">[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs the focus
    <ul className="problems" tabIndex={0}>
      {memories.slice(0, SAMPLES_MAX).map(({ id, text }) => (
        <li key={id} className="breakable" dir="auto">
          {text}
        </li>
      ))}
    </ul>
  );
}
