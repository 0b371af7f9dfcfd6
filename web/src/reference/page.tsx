import { useQuery } from "@tanstack/react-query";
import { Icon } from "../parts/icon";
import { Empty, Loading, Page } from "../parts/page";
import { linkTo } from "../route";
import { SERVICE_URL } from "../session/client";
import { CallList } from "./call-list";
import { CallPage } from "./call-page";
import { groupsOf } from "./calls";
import { Contents } from "./contents";
import type { Document } from "./openapi";
import { Inline } from "./prose";

/** API reference: an index, and a page for each call. It is our own, so that the strict content policy applies. */
export function ReferencePage({ rest: [name = ""] }: { rest: readonly string[] }) {
  const { data, error } = useQuery({ queryKey: ["openapi.json"], queryFn: load, staleTime: Infinity });
  if (data && name !== "") return <OneCall document={data} name={name} />;
  return (
    <Page
      title="API reference"
      intro={
        <>
          Every call has a page. Tools can read <a href={`${SERVICE_URL}/openapi.json`}>openapi.json</a>; the{" "}
          <a href="docs/">guides</a> explain how to use them.
        </>
      }
    >
      {error && (
        <div className="note note-warn" role="alert">
          <Icon name="alert" />
          <div>
            <strong>The description could not be loaded</strong>
            <p>{error.message}</p>
          </div>
        </div>
      )}
      {!data && !error && <Loading />}
      {data && <CallList document={data} groups={groupsOf(data)} />}
    </Page>
  );
}

function OneCall({ document, name }: { document: Document; name: string }) {
  const groups = groupsOf(document);
  const call = groups.flatMap(([, calls]) => calls).find((each) => each.name === name);
  return (
    <Page title={call?.name ?? "There is no such call"} intro={<Inline text={call?.summary ?? ""} />}>
      <div className="reference">
        <Contents groups={groups} current={name} />
        {call ? (
          <div className="reference-call" key={name}>
            <CallPage document={document} call={call} />
          </div>
        ) : (
          <Empty title="The address names no call">
            <p>
              Go to <a href={linkTo("reference")}>all calls</a>.
            </p>
          </Empty>
        )}
      </div>
    </Page>
  );
}

async function load(): Promise<Document> {
  const response = await fetch(`${SERVICE_URL}/openapi.json`);
  if (!response.ok) throw new Error(`${SERVICE_URL}/openapi.json answered ${response.status}.`);
  return (await response.json()) as Document;
}
