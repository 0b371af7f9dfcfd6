import { Page } from "../parts/page";
import { linkTo } from "../route";
import { useSession } from "../session/session";
import { FirstCall } from "./first-call";
import { QuickStart } from "./quick-start";

export function QuickStartPage() {
  const { key, unsaved } = useSession();
  if (key === undefined) return null;
  return (
    <Page title="Quick start" intro="Store one memory and recall it, with the key of this tab.">
      {/* Once is enough: while the key is being revealed, the same stands in the dialog. */}
      {!unsaved && (
        <section className="card stack">
          <QuickStart apiKey={key} />
          <FirstCall />
        </section>
      )}
      <section className="next">
        <a className="card" href={linkTo("playground")}>
          <strong>Playground</strong>
          <span className="quiet">Store and recall from this page, and see the scores.</span>
        </a>
        <a className="card" href={linkTo("keys")}>
          <strong>API keys</strong>
          <span className="quiet">One per application: read-only, or for one namespace.</span>
        </a>
        <a className="card" href={linkTo("docs")}>
          <strong>API reference</strong>
          <span className="quiet">Every call, field and error, and a way to try them.</span>
        </a>
      </section>
    </Page>
  );
}
