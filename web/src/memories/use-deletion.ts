import type { JsonObject } from "@bufbuild/protobuf";
import { useState } from "react";
import { useStoppable } from "../parts/use-stoppable";
import { memoryClient } from "../session/client";
import { refreshMemories } from "../session/refresh";

/** Choice of the memories to delete: by their ids, or by a filter. */
export interface Deletion {
  readonly namespace: string;
  readonly ids?: string[];
  readonly filter?: JsonObject;
  readonly includeSuperseded?: boolean;
}

/** Deletes call by call until nothing is left, or the dialog closes. */
export function useDeletion(deletion: Deletion, onDone: () => void) {
  const [deleted, setDeleted] = useState<number>();
  const { error: failure, run } = useStoppable();
  const deleteAll = async (signal: AbortSignal) => {
    try {
      for (let sum = 0, more = true; more; setDeleted(sum)) {
        const answer = await memoryClient.deleteMemories(deletion, { signal });
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
