import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Memory, memories } from "../api";
import { ErrorNote } from "../errors";
import { ago, counted, dateTime } from "../format";
import { Icon } from "../parts/icon";
import { More } from "../parts/more";
import { Empty, Loading, Page } from "../parts/page";
import { go, linkTo } from "../route";
import { DropNamespace } from "./drop-namespace";
import { MemoryDrawer } from "./memory-drawer";

export function NamespacePage({ namespace }: { namespace: string }) {
  const [opened, setOpened] = useState<Memory>();
  const [dropping, setDropping] = useState(false);
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    memories.listMemories,
    { namespace, pageToken: "" },
    { pageParamKey: "pageToken", getNextPageParam: (page) => page.nextPageToken || undefined },
  );
  const listed = data?.pages.flatMap((page) => page.memories) ?? [];
  return (
    <Page
      title={namespace}
      intro={<Trail />}
      actions={<NamespaceActions namespace={namespace} onDrop={() => setDropping(true)} />}
    >
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && listed.length === 0 && (
        <Empty title="This namespace is empty">
          <p>
            Store something in the <a href={linkTo("playground", namespace)}>playground</a>.
          </p>
        </Empty>
      )}
      {listed.length > 0 && <MemoryList memories={listed} onOpen={setOpened} />}
      {hasNextPage && <More busy={isFetchingNextPage} onMore={() => fetchNextPage()} />}
      {opened && <MemoryDrawer namespace={namespace} memory={opened} onClose={() => setOpened(undefined)} />}
      {dropping && (
        <DropNamespace
          namespace={namespace}
          onDropped={() => go("memories")}
          onClose={() => setDropping(false)}
        />
      )}
    </Page>
  );
}

function Trail() {
  return (
    <>
      <a href={linkTo("memories")}>All namespaces</a> · newest memories first
    </>
  );
}

function NamespaceActions({ namespace, onDrop }: { namespace: string; onDrop(): void }) {
  return (
    <>
      <a className="button" href={linkTo("playground", namespace)}>
        <Icon name="playground" /> Playground
      </a>
      <a className="button" href={linkTo("map", namespace)}>
        <Icon name="map" /> Map
      </a>
      <button type="button" className="button-danger-quiet" onClick={onDrop}>
        <Icon name="trash" /> Drop
      </button>
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
            <span className="row-text">{memory.text}</span>
            <span className="row-facts">
              {counted(memory.tokens, "token")} ·{" "}
              <span title={dateTime(memory.createdAt)}>{ago(memory.createdAt)}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
