import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { Dialog } from "../parts/dialog";
import { Loading } from "../parts/page";
import { MemoryDrawer } from "./memory-drawer";

/** Opens a memory of which only the id is known. */
export function OpenMemory(props: { namespace: string; id: string; onClose(): void }) {
  const { namespace, id, onClose } = props;
  const { data, error } = useQuery(memories.getMemory, { namespace, id });
  if (data?.memory) return <MemoryDrawer namespace={namespace} memory={data.memory} onClose={onClose} />;
  return (
    <Dialog title="Memory" className="drawer" onClose={onClose}>
      {error ? <ErrorNote error={error} /> : <Loading />}
    </Dialog>
  );
}
