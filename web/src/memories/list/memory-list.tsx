import type { ReactNode } from "react";
import { ErrorNote } from "../../errors";
import { Icon } from "../../parts/icon";
import { More } from "../../parts/more";
import { Loading } from "../../parts/page";
import { useRights } from "../../session/rights";
import { chosenBy, type Listing, narrowed } from "./listing";
import { LiveNote } from "./live-button";
import { MemoryTable } from "./memory-table";
import type { MemoryListing } from "./use-memory-list";

export interface MemoryListProps {
  readonly list: MemoryListing;
  readonly listing: Listing;
  readonly columns: readonly string[];
  /** Message in place of an empty list. */
  readonly nothing: ReactNode;
  onChange(listing: Listing): void;
  onOpen(id: string): void;
  onDelete(what: "selected" | "matching"): void;
}

/** Shows the memories of a namespace as a table, and what can be done with all of them. */
export function MemoryList(props: MemoryListProps) {
  const { list, listing, columns, nothing, onChange, onOpen } = props;
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
            columns={columns}
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

/** What applies to the memories as they are chosen now; nothing, most of the time. */
function Tools({ list, listing, onDelete }: MemoryListProps) {
  const { live, listed, selection } = list;
  return (
    <div className="list-tools">
      <DeleteButton
        selected={selection.selected.size}
        isFiltered={chosenBy(listing).filter !== undefined && listed.length > 0}
        onDelete={onDelete}
      />
      <LiveNote state={live.state} />
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
