import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useMemo, useState } from "react";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { count, counted } from "../format";
import { OtherNamespace } from "../memories/other-namespace";
import { Empty, Loading, Page } from "../parts/page";
import { linkTo } from "../route";
import { refresh } from "../session/refresh";
import { useRights } from "../session/rights";
import { MapCanvas } from "./map-canvas";
import { PointTable } from "./point-table";
import { QueryBox } from "./query-box";
import { SidePanel } from "./side-panel";

const TOP_K = 10;

/** Page of `#/map/<namespace>`. */
export function MapPage({ rest: [namespace = ""] }: { rest: readonly string[] }) {
  const { namespace: only } = useRights();
  if (only !== undefined && only !== namespace) return <OtherNamespace {...{ namespace, only }} />;
  return <MapOf namespace={namespace} />;
}

function MapOf({ namespace }: { namespace: string }) {
  const { writes } = useRights();
  const [selected, setSelected] = useState<string>();
  const { data, error } = useQuery(memories.mapNamespace, { namespace }, { staleTime: 60_000 });
  const recall = useMutation(memories.recall, { onSuccess: () => refresh("account", "usage") });
  const results = recall.data?.results;
  const hits = useMemo(() => new Map(results?.map(({ id, score }) => [id, score])), [results]);
  const points = data?.points ?? [];
  const forget = () => {
    setSelected(undefined);
    recall.reset();
  };
  return (
    <Page title={`Map of ${namespace}`} intro={<Trail namespace={namespace} />}>
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && points.length === 0 && (
        <Empty title="Nothing to draw yet">
          <p>
            This namespace is empty.{" "}
            {writes && (
              <>
                Store something in the <a href={linkTo("playground", namespace)}>playground</a>.
              </>
            )}
          </p>
        </Empty>
      )}
      {points.length > 0 && (
        <>
          <div className="map">
            <section className="card card-flush" aria-label="Map">
              <MapCanvas points={points} hits={hits} selected={selected} onSelect={setSelected} />
              <p className="hint map-note">
                {extent(points.length, data?.memories ?? 0)} Texts with similar meanings are close together.
                Scroll or pinch to zoom, drag to move, and click a point to read it.
              </p>
            </section>
            <div className="map-side">
              {selected && (
                <SidePanel
                  key={selected}
                  namespace={namespace}
                  id={selected}
                  onDeleted={forget}
                  onClose={() => setSelected(undefined)}
                />
              )}
              <QueryBox
                results={results}
                error={recall.error}
                busy={recall.isPending}
                selected={selected}
                onAsk={(query) => recall.mutate({ query, namespace, topK: TOP_K })}
                onClear={() => recall.reset()}
                onSelect={setSelected}
              />
            </div>
          </div>
          <PointTable points={points} hits={hits} onSelect={setSelected} />
        </>
      )}
    </Page>
  );
}

function extent(drawn: number, held: number): string {
  return drawn < held
    ? `The map shows ${count(drawn)} of ${count(held)} memories, chosen at random.`
    : `${counted(drawn, "memory", "memories")}.`;
}

function Trail({ namespace }: { namespace: string }) {
  return (
    <>
      <a href={linkTo("memories")}>All namespaces</a> · <a href={linkTo("memories", namespace)}>List</a> ·{" "}
      <a href={linkTo("playground", namespace)}>Playground</a>
    </>
  );
}
