import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useDeferredValue, useState } from "react";
import { memories, type Namespace } from "../api";
import { Code } from "../code/code";
import { ErrorNote } from "../errors";
import { bytes, count, counted } from "../format";
import { Icon } from "../parts/icon";
import { KeyNote, READ_ONLY } from "../parts/key-note";
import { More } from "../parts/more";
import { Empty, Loading, Page } from "../parts/page";
import { ScrollRegion } from "../parts/scroll-region";
import { linkTo } from "../route";
import { SERVICE_URL } from "../session/client";
import { refreshMemories } from "../session/refresh";
import { useRights } from "../session/rights";
import { SampleKeyNote, useSampleKey } from "../start/sample-key";
import { curlOf, NAMESPACE } from "../start/samples";
import { DeleteNamespace } from "./delete-namespace";

/** Number of namespaces from which one would rather search than read. */
const SEARCHED_FROM = 8;

export function NamespacesPage() {
  const [deleting, setDeleting] = useState<Namespace>();
  const [typed, setTyped] = useState("");
  // What is typed shows at once; the list follows when the browser has time.
  const prefix = useDeferredValue(typed);
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    memories.listNamespaces,
    { pageToken: "", prefix },
    { pageParamKey: "pageToken", getNextPageParam: (page) => page.nextPageToken || undefined },
  );
  const namespaces = data?.pages.flatMap((page) => page.namespaces) ?? [];
  const { namespace: only } = useRights();
  const intro = only
    ? "The namespace of your key. The account may have others, which this key cannot see."
    : "Your namespaces and what each of them holds.";
  const isAll = !hasNextPage && prefix === "";
  return (
    <Page
      title="Memories"
      intro={intro}
      actions={
        <button type="button" onClick={refreshMemories}>
          <Icon name="rotate" /> Refresh
        </button>
      }
    >
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {(prefix !== "" || hasNextPage || namespaces.length > SEARCHED_FROM) && (
        <PrefixBox prefix={typed} onChange={setTyped} />
      )}
      {data && namespaces.length === 0 && prefix === "" && <NoMemories />}
      {data && namespaces.length === 0 && prefix !== "" && (
        <p className="quiet">No namespace begins with this.</p>
      )}
      {namespaces.length > 0 && <Total namespaces={namespaces} isAll={isAll} />}
      {namespaces.length > 0 && <NamespaceTable namespaces={namespaces} onDelete={setDeleting} />}
      {hasNextPage && <More busy={isFetchingNextPage} onMore={() => fetchNextPage()} />}
      {deleting && (
        <DeleteNamespace
          namespace={deleting.namespace}
          memories={deleting.memories}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </Page>
  );
}

/** Sums up what the listed namespaces hold. */
function Total({ namespaces, isAll }: { namespaces: readonly Namespace[]; isAll: boolean }) {
  const sum = (pick: (namespace: Namespace) => number) =>
    namespaces.reduce((total, namespace) => total + pick(namespace), 0);
  const all = [
    counted(namespaces.length, "namespace"),
    counted(
      sum(({ memories: held }) => held),
      "memory",
      "memories",
    ),
    bytes(sum(({ bytes: size }) => Number(size))),
  ];
  return (
    <p className="quiet" role="status">
      {!isAll && "Shown: "}
      {all.join(" · ")}
    </p>
  );
}

function PrefixBox({ prefix, onChange }: { prefix: string; onChange(prefix: string): void }) {
  return (
    <div className="field">
      <label htmlFor="prefix">Find by the beginning of the name</label>
      <input
        id="prefix"
        type="search"
        dir="auto"
        autoComplete="off"
        spellCheck={false}
        value={prefix}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

interface NamespaceTableProps {
  readonly namespaces: readonly Namespace[];
  onDelete(namespace: Namespace): void;
}

function NamespaceTable({ namespaces, onDelete }: NamespaceTableProps) {
  const { writes } = useRights();
  return (
    <section className="card card-flush">
      <ScrollRegion label="Namespaces">
        <table className="cards">
          <thead>
            <tr>
              <th scope="col">Namespace</th>
              <th scope="col" className="number">
                Memories
              </th>
              <th scope="col" className="number">
                Size
              </th>
              <th scope="col">
                <span className="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {namespaces.map((namespace) => (
              <tr key={namespace.namespace}>
                <th scope="row">
                  <a className="clip" href={linkTo("memories", namespace.namespace)}>
                    <bdi>{namespace.namespace}</bdi>
                  </a>
                </th>
                <td data-label="Memories" className="number">
                  {count(namespace.memories)}
                </td>
                <td data-label="Size" className="number">
                  {bytes(namespace.bytes)}
                </td>
                <td className="cell-actions">
                  {writes && (
                    <button type="button" className="button-small" onClick={() => onDelete(namespace)}>
                      Delete<span className="unseen"> {namespace.namespace}</span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}

function NoMemories() {
  const key = useSampleKey();
  const { writes, readsOnly, namespace = NAMESPACE } = useRights();
  const body = { text: "The first thing to remember.", namespace };
  return (
    <Empty title="Nothing is stored yet">
      <p>A namespace is created with its first memory.</p>
      {readsOnly && (
        <KeyNote title={READ_ONLY}>To store a memory, sign in with a key with full access.</KeyNote>
      )}
      {writes && (
        <>
          <p>
            Store one in the <a href={linkTo("playground")}>playground</a>, or from a terminal:
          </p>
          <SampleKeyNote />
          <Code
            text={curlOf({ url: SERVICE_URL, key }, "/store", body)}
            what="curl command"
            language="bash"
          />
        </>
      )}
    </Empty>
  );
}
