import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Memory, memories } from "../api";
import { ErrorNote } from "../errors";
import { ago, counted, dateTime } from "../format";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Empty, Loading, Page } from "../parts/page";
import { closeTo, go, linkTo, openAt } from "../route";
import { useRights } from "../session/rights";
import { ExportButton } from "../transfer/export-button";
import { ImportDialog } from "../transfer/import-dialog";
import { DeleteMatching } from "./delete-matching";
import { DropNamespace } from "./drop-namespace";
import { type Listing, ListOptions, NEWEST } from "./list-options";
import { MemoryDrawer } from "./memory-drawer";
import { OpenMemory } from "./open-memory";

export interface NamespacePageProps {
  readonly namespace: string;
  /** Id of the memory that is open; it is part of the address, so that Back closes it. */
  readonly opened: string | undefined;
}

export function NamespacePage({ namespace, opened }: NamespacePageProps) {
  const [dialog, setDialog] = useState<"drop" | "import" | "delete">();
  const [listing, setListing] = useState(NEWEST);
  const { writes, readsOnly } = useRights();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    memories.listMemories,
    { namespace, pageToken: "", ...listing },
    { pageParamKey: "pageToken", getNextPageParam: (page) => page.nextPageToken || undefined },
  );
  const listed = data?.pages.flatMap((page) => page.memories) ?? [];
  return (
    <Page
      title={namespace}
      intro={<Trail {...{ namespace, listing }} />}
      actions={<NamespaceActions namespace={namespace} onOpen={setDialog} />}
    >
      <ListOptions listing={listing} onChange={setListing} />
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {writes && listing.filter && listed.length > 0 && (
        <p>
          <button type="button" className="button-danger-quiet" onClick={() => setDialog("delete")}>
            <Icon name="trash" /> Delete what the filter finds
          </button>
        </p>
      )}
      {data && listed.length === 0 && listing.filter && <p className="quiet">No memory matches.</p>}
      {data && listed.length === 0 && !listing.filter && (
        <Empty title="This namespace is empty">
          {readsOnly ? (
            <p>Your key may only read, and cannot store something here.</p>
          ) : (
            <p>
              Store something in the <a href={linkTo("playground", namespace)}>playground</a>.
            </p>
          )}
        </Empty>
      )}
      {listed.length > 0 && (
        <MemoryList memories={listed} onOpen={({ id }) => openAt("memories", namespace, id)} />
      )}
      {hasNextPage && <More busy={isFetchingNextPage} onMore={() => fetchNextPage()} />}
      {opened && <Opened {...{ namespace, listed }} id={opened} />}
      {dialog === "delete" && listing.filter && (
        <DeleteMatching
          {...{ namespace, filter: listing.filter, includeSuperseded: listing.includeSuperseded }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === "import" && <ImportDialog namespace={namespace} onClose={() => setDialog(undefined)} />}
      {dialog === "drop" && (
        <DropNamespace
          namespace={namespace}
          onDropped={() => go("memories")}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Page>
  );
}

/** Shows the open memory: as it was listed, or else by its id. */
function Opened({ namespace, id, listed }: { namespace: string; id: string; listed: readonly Memory[] }) {
  const memory = listed.find((each) => each.id === id);
  const close = () => closeTo("memories", namespace);
  if (memory) return <MemoryDrawer namespace={namespace} memory={memory} onClose={close} />;
  return <OpenMemory namespace={namespace} id={id} onDeleted={close} onClose={close} />;
}

function Trail({ namespace, listing }: { namespace: string; listing: Listing }) {
  const { order: _, ...counting } = listing;
  const { data } = useQuery(memories.countMemories, { namespace, ...counting });
  return (
    <>
      <a href={linkTo("memories")}>All namespaces</a>
      {data && ` · ${counted(Number(data.memories), "memory", "memories")}`}
    </>
  );
}

interface NamespaceActionsProps {
  readonly namespace: string;
  onOpen(dialog: "drop" | "import"): void;
}

function NamespaceActions({ namespace, onOpen }: NamespaceActionsProps) {
  const { writes } = useRights();
  return (
    <>
      <a className="button" href={linkTo("playground", namespace)}>
        <Icon name="playground" /> Playground
      </a>
      <a className="button" href={linkTo("map", namespace)}>
        <Icon name="map" /> Map
      </a>
      <ExportButton namespace={namespace} />
      {writes && (
        <>
          <button type="button" onClick={() => onOpen("import")}>
            Import
          </button>
          <button type="button" className="button-danger-quiet" onClick={() => onOpen("drop")}>
            <Icon name="trash" /> Drop
          </button>
        </>
      )}
    </>
  );
}

interface MemoryListProps {
  readonly memories: readonly Memory[];
  onOpen(memory: Memory): void;
}

function MemoryList({ memories, onOpen }: MemoryListProps) {
  return (
    <ul className="card card-flush rows">
      {memories.map((memory) => (
        <li key={memory.id}>
          <button type="button" className="row" onClick={() => onOpen(memory)}>
            <span className="row-text" dir="auto">
              {memory.text}
            </span>
            <span className="row-facts">
              {memory.supersededBy !== undefined && <span className="badge badge-warn">Superseded</span>}{" "}
              {counted(memory.tokens, "token")} ·{" "}
              <span title={dateTime(memory.createdAt)}>{ago(memory.createdAt)}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
