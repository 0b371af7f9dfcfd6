import { useQuery } from "@connectrpc/connect-query";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { OtherNamespace } from "../memories/other-namespace";
import { Empty, Loading, Page } from "../parts/page";
import { linkTo } from "../route";
import { useRights } from "../session/rights";
import { Drawn } from "./drawn";

/** Page of `#/map/<namespace>`. */
export function MapPage({ rest: [namespace = ""] }: { rest: readonly string[] }) {
  const { namespace: only } = useRights();
  if (only !== undefined && only !== namespace) return <OtherNamespace {...{ namespace, only }} />;
  return <MapOf namespace={namespace} />;
}

function MapOf({ namespace }: { namespace: string }) {
  const { writes } = useRights();
  const { data, error } = useQuery(memories.mapNamespace, { namespace }, { staleTime: 60_000 });
  return (
    <Page title={`Map of ${namespace}`} intro={<Trail namespace={namespace} />}>
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data?.points.length === 0 && (
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
      {data && data.points.length > 0 && (
        <Drawn {...{ namespace, points: data.points, held: data.memories }} />
      )}
    </Page>
  );
}

function Trail({ namespace }: { namespace: string }) {
  return (
    <>
      <a href={linkTo("memories")}>All namespaces</a> · <a href={linkTo("memories", namespace)}>List</a> ·{" "}
      <a href={linkTo("playground", namespace)}>Playground</a>
    </>
  );
}
