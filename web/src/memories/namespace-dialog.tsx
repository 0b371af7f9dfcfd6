import { go } from "../route";
import { ImportDialog } from "../transfer/import-dialog";
import { DeleteMatching } from "./delete-matching";
import { DeleteNamespace } from "./delete-namespace";
import { DeleteSelected } from "./delete-selected";
import type { Chosen } from "./list/listing";
import type { MemoryListing } from "./list/use-memory-list";

export type DialogName = "delete" | "import" | "matching" | "selected";

export interface NamespaceDialogProps {
  readonly namespace: string;
  readonly dialog: DialogName;
  readonly chosen: Chosen;
  readonly selection: MemoryListing["selection"];
  onClose(): void;
}

/** Asks before something is done with many memories at once. */
export function NamespaceDialog(props: NamespaceDialogProps) {
  const { namespace, dialog, chosen, selection, onClose } = props;
  const { filter, includeSuperseded } = chosen;
  if (dialog === "import") return <ImportDialog namespace={namespace} onClose={onClose} />;
  if (dialog === "delete")
    return <DeleteNamespace namespace={namespace} onClose={onClose} onDeleted={() => go("memories")} />;
  if (dialog === "selected") {
    const ids = [...selection.selected];
    return <DeleteSelected namespace={namespace} ids={ids} onClose={onClose} onDeleted={selection.clear} />;
  }
  return (
    filter && (
      <DeleteMatching
        namespace={namespace}
        filter={filter}
        includeSuperseded={includeSuperseded}
        onClose={onClose}
      />
    )
  );
}
