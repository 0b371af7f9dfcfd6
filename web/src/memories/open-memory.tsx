import { useQuery } from "@connectrpc/connect-query";
import { useRef } from "react";
import { type Memory, memories } from "../api";
import { ErrorNote } from "../errors";
import { Dialog } from "../parts/dialog";
import { Loading } from "../parts/page";
import { MemoryDrawer } from "./memory-drawer";

export interface OpenMemoryProps {
  readonly namespace: string;
  readonly id: string;
  /** The memory as a list has it, if one has. */
  readonly listed?: Memory | undefined;
  onDeleted(): void;
  onClose(): void;
}

/**
 * Opens a memory as it is listed, or else by its id. One that leaves the list meanwhile stays open, for somebody may be
 * writing in one of its forms.
 */
export function OpenMemory({ namespace, id, listed, onDeleted, onClose }: OpenMemoryProps) {
  const { data, error } = useQuery(memories.getMemory, { namespace, id }, { enabled: listed === undefined });
  const last = useRef<Memory>(undefined);
  last.current = listed ?? data?.memory ?? last.current;
  if (last.current) {
    return (
      <MemoryDrawer namespace={namespace} onDeleted={onDeleted} onClose={onClose} memory={last.current} />
    );
  }
  return (
    <Dialog title="Memory" className="drawer" onClose={onClose}>
      {error ? <ErrorNote error={error} /> : <Loading />}
    </Dialog>
  );
}
