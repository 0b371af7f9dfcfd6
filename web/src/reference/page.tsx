import { useQuery } from "@tanstack/react-query";
import { Icon } from "../parts/icon";
import { Loading, Page } from "../parts/page";
import { SERVICE_URL } from "../session/client";
import { CallSection } from "./call-section";
import { Contents } from "./contents";
import { callsByTag, type Document } from "./openapi";
import { Prose } from "./prose";

/** API reference. It is our own small page, so that the strict content policy applies here too. */
export function ReferencePage() {
  const { data, error } = useQuery({ queryKey: ["openapi.json"], queryFn: load, staleTime: Infinity });
  return (
    <Page
      title="API reference"
      intro={
        <>
          This page describes every call. Tools can read{" "}
          <a href={`${SERVICE_URL}/openapi.json`}>openapi.json</a>.
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
      {data && <Reference document={data} />}
    </Page>
  );
}

function Reference({ document }: { document: Document }) {
  const groups = [...callsByTag(document)];
  return (
    <div className="docs">
      <Contents groups={groups} />
      <div className="docs-calls">
        {document.info?.description && (
          <section className="card">
            <Prose text={document.info.description} />
          </section>
        )}
        {groups.map(([tag, calls]) => (
          <section key={tag} className="docs-group" aria-label={tag}>
            <h2>{tag}</h2>
            <Prose text={document.tags?.find(({ name }) => name === tag)?.description ?? ""} />
            {calls.map((call) => (
              <CallSection key={call.id} document={document} call={call} />
            ))}
          </section>
        ))}
      </div>
    </div>
  );
}

async function load(): Promise<Document> {
  const response = await fetch(`${SERVICE_URL}/openapi.json`);
  if (!response.ok) throw new Error(`${SERVICE_URL}/openapi.json answered ${response.status}.`);
  return (await response.json()) as Document;
}
