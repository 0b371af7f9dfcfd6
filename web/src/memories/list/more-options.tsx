import { DropDown } from "../../parts/drop-down";
import { Icon } from "../../parts/icon";
import { refreshMemories } from "../../session/refresh";
import { useRights } from "../../session/rights";
import { ExportButton } from "../../transfer/export-button";
import { ColumnFields } from "./column-fields";
import type { Listing } from "./listing";
import { LiveButton } from "./live-button";
import type { MemoryListing } from "./use-memory-list";

export interface MoreOptionsProps {
  readonly namespace: string;
  readonly list: MemoryListing;
  readonly listing: Listing;
  readonly columns: readonly string[];
  onChange(listing: Listing): void;
  onColumns(columns: readonly string[]): void;
  onOpen(dialog: "delete" | "import"): void;
}

/** What is chosen less often about a list, and what can be done with the whole namespace. */
export function MoreOptions(props: MoreOptionsProps) {
  const { namespace, list, listing, columns, onChange, onColumns, onOpen } = props;
  const { live, listed } = list;
  const { writes } = useRights();
  return (
    <DropDown label="More">
      {listing.question === "" && <ColumnFields memories={listed} columns={columns} onChange={onColumns} />}
      <label className="check">
        <input
          type="checkbox"
          checked={listing.includeSuperseded}
          onChange={({ target }) => onChange({ ...listing, includeSuperseded: target.checked })}
        />
        Superseded memories, too
      </label>
      {listing.question === "" && (
        <div className="actions">
          <button type="button" onClick={refreshMemories}>
            <Icon name="rotate" /> Refresh
          </button>
          <LiveButton state={live.state} isOn={live.isLive} onChange={live.setLive} />
        </div>
      )}
      <div className="actions">
        <ExportButton namespace={namespace} />
        {writes && (
          <button type="button" onClick={() => onOpen("import")}>
            Import
          </button>
        )}
      </div>
      {writes && (
        <button type="button" className="button-danger-quiet" onClick={() => onOpen("delete")}>
          <Icon name="trash" /> Delete namespace
        </button>
      )}
    </DropDown>
  );
}
