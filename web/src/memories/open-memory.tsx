import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { Dialog } from "../parts/dialog";
import { Loading } from "../parts/page";
import { MemoryDrawer } from "./memory-drawer";

export interface OpenMemoryProps {
  readonly namespace: string;
  readonly id: string;
  onDeleted(): void;
  onClose(): void;
}

/** Opens a memory by its id. */
export function OpenMemory({ namespace, id, onDeleted, onClose }: OpenMemoryProps) {
  const { data, error } = useQuery(memories.getMemory, { namespace, id });
  if (data?.memory) {
    return (
      <MemoryDrawer namespace={namespace} onDeleted={onDeleted} onClose={onClose} memory={data.memory} />
    );
  }
  return (
    <Dialog title="Memory" className="drawer" onClose={onClose}>
      {error ? <ErrorNote error={error} /> : <Loading />}
    </Dialog>
  );
}
