import type { ReactNode } from "react";
import { ErrorNote } from "../../errors";
import { Icon } from "../../parts/icon";
import { More } from "../../parts/more";
import { Loading } from "../../parts/page";
import { refreshMemories } from "../../session/refresh";
import { useRights } from "../../session/rights";
import { ColumnChooser } from "./column-chooser";
import { chosenBy, type Listing, narrowed } from "./listing";
import { LiveButton } from "./live-button";
import { MemoryTable } from "./memory-table";
import type { MemoryListing } from "./use-memory-list";

export interface MemoryListProps {
  readonly list: MemoryListing;
  readonly listing: Listing;
  /** Message in place of an empty list. */
  readonly nothing: ReactNode;
  onChange(listing: Listing): void;
  onOpen(id: string): void;
  onDelete(what: "selected" | "matching"): void;
}

/** Shows the memories of a namespace as a table, and what can be done with all of them. */
export function MemoryList(props: MemoryListProps) {
  const { list, listing, nothing, onChange, onOpen } = props;
  const { listed, error, isLoaded, more, fresh, selection } = list;
  const { writes } = useRights();
  return (
    <>
      <Tools {...props} />
      <ErrorNote error={error} />
      {!isLoaded && !error && <Loading />}
      {isLoaded && listed.length === 0 && nothing}
      {listed.length > 0 && (
        <>
          <MemoryTable
            memories={listed}
            columns={listing.columns}
            selected={writes ? selection.selected : undefined}
            fresh={fresh}
            onSelect={selection.select}
            onOpen={onOpen}
            onNarrow={(key, value) => onChange(narrowed(listing, key, value))}
          />
          <KeysHint />
        </>
      )}
      {more && <More {...more} />}
    </>
  );
}

function Tools({ list, listing, onChange, onDelete }: MemoryListProps) {
  const { live, listed, selection } = list;
  return (
    <div className="list-tools">
      <ColumnChooser
        memories={listed}
        columns={listing.columns}
        onChange={(columns) => onChange({ ...listing, columns })}
      />
      <button type="button" onClick={refreshMemories}>
        <Icon name="rotate" /> Refresh
      </button>
      <LiveButton state={live.state} isOn={live.isLive} onChange={live.setLive} />
      <DeleteButton
        selected={selection.selected.size}
        isFiltered={chosenBy(listing).filter !== undefined && listed.length > 0}
        onDelete={onDelete}
      />
    </div>
  );
}

interface DeleteButtonProps extends Pick<MemoryListProps, "onDelete"> {
  readonly selected: number;
  readonly isFiltered: boolean;
}

/** Deletes what is selected or, if nothing is, what the filter finds. */
function DeleteButton({ selected, isFiltered, onDelete }: DeleteButtonProps) {
  const { writes } = useRights();
  if (!writes || (selected === 0 && !isFiltered)) return null;
  return (
    <button
      type="button"
      className="button-danger-quiet"
      onClick={() => onDelete(selected > 0 ? "selected" : "matching")}
    >
      <Icon name="trash" /> {selected > 0 ? `Delete ${selected} selected` : "Delete what the filter finds"}
    </button>
  );
}

function KeysHint() {
  const { writes } = useRights();
  return (
    <p className="hint keys-hint">
      <kbd>↑</kbd> <kbd>↓</kbd> move between memories, <kbd>Enter</kbd> opens one
      {writes && (
        <>
          , <kbd>x</kbd> selects it
        </>
      )}
      , and <kbd>/</kbd> searches.
    </p>
  );
}
