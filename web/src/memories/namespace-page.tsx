import { useEffect, useState } from "react";
import { Icon } from "../parts/icon";
import { Empty, Page } from "../parts/page";
import { closeTo, linkTo, openAt, setQuery, useRoute } from "../route";
import { rememberColumns, rememberedColumns } from "../session/columns";
import { useRights } from "../session/rights";
import { usualColumns } from "./list/columns";
import { Found } from "./list/found";
import { focusBySlash } from "./list/keyboard";
import { ListOptions } from "./list/list-options";
import { chosenBy, type Listing, listingOf, queryOf } from "./list/listing";
import { MemoryList } from "./list/memory-list";
import { MoreOptions } from "./list/more-options";
import { Totals } from "./list/totals";
import { useMemoryList } from "./list/use-memory-list";
import { type DialogName, NamespaceDialog } from "./namespace-dialog";
import { OpenMemory } from "./open-memory";

export interface NamespacePageProps {
  readonly namespace: string;
  /** Id of the memory that is open; it is part of the address, so that Back closes it. */
  readonly opened: string | undefined;
}

export function NamespacePage({ namespace, opened }: NamespacePageProps) {
  const [dialog, setDialog] = useState<DialogName>();
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const listing = listingOf(useRoute().query);
  const { question } = listing;
  const chosen = chosenBy(listing);
  const list = useMemoryList(namespace, listing);
  useEffect(() => focusBySlash("list-question"), []);
  const change = (next: Listing) => setQuery(queryOf(next));
  const open = (id: string) => openAt("memories", namespace, id);
  const columns = listing.columns ?? rememberedColumns(namespace) ?? usualColumns(list.listed);
  const choose = (next: readonly string[]) => {
    rememberColumns(namespace, next);
    change({ ...listing, columns: next });
  };
  return (
    <Page
      title={namespace}
      intro={
        <Totals
          namespace={namespace}
          chosen={chosen}
          onShowSuperseded={() => change({ ...listing, includeSuperseded: true })}
        />
      }
      actions={
        <a className="button" href={linkTo("playground", namespace)}>
          <Icon name="playground" /> Playground
        </a>
      }
    >
      <ListOptions listing={listing} onChange={change}>
        <MoreOptions
          namespace={namespace}
          list={list}
          listing={listing}
          columns={columns}
          onChange={change}
          onColumns={choose}
          onOpen={setDialog}
        />
      </ListOptions>
      {question === "" ? (
        <MemoryList
          list={list}
          listing={listing}
          columns={columns}
          nothing={<Nothing isFiltered={chosen.filter !== undefined} namespace={namespace} />}
          onChange={change}
          onOpen={open}
          onDelete={setDialog}
        />
      ) : (
        <Found namespace={namespace} question={question} chosen={chosen} deleted={deleted} onOpen={open} />
      )}
      {opened && (
        <OpenMemory
          // Back may lead from one memory to another, which the other's dialog is not about.
          key={opened}
          namespace={namespace}
          id={opened}
          listed={list.listed.find(({ id }) => id === opened)}
          onDeleted={() => setDeleted((before) => [...before, opened])}
          onClose={() => closeTo("memories", namespace)}
        />
      )}
      {dialog && (
        <NamespaceDialog
          namespace={namespace}
          chosen={chosen}
          dialog={dialog}
          selection={list.selection}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Page>
  );
}

function Nothing({ namespace, isFiltered }: { namespace: string; isFiltered: boolean }) {
  const { readsOnly } = useRights();
  if (isFiltered) return <p className="quiet">No memory matches.</p>;
  return (
    <Empty title="This namespace is empty">
      {readsOnly ? (
        <p>Your key may only read, and cannot store something here.</p>
      ) : (
        <p>
          Store something in the <a href={linkTo("playground", namespace)}>playground</a>.
        </p>
      )}
    </Empty>
  );
}
