import { Page } from "../parts/page";
import { linkTo } from "../route";
import { useSession } from "../session/session";
import { FirstCall } from "./first-call";
import { QuickStart } from "./quick-start";

export function QuickStartPage() {
  const { key, unsaved } = useSession();
  if (key === undefined) return null;
  return (
    <Page title="Quick start" intro="Store one memory and recall it with this tab's key.">
      {/* While the dialog reveals the key, it shows the same steps. */}
      {!unsaved && (
        <section className="card stack">
          <QuickStart apiKey={key} />
          <FirstCall />
        </section>
      )}
      <section className="next">
        <a className="card" href={linkTo("playground")}>
          <strong>Playground</strong>
          <span className="quiet">Store and recall from a form, and see the scores.</span>
        </a>
        <a className="card" href={linkTo("keys")}>
          <strong>API keys</strong>
          <span className="quiet">
            Create a key for each application. A key can be read-only or limited to one namespace.
          </span>
        </a>
        <a className="card" href={linkTo("docs")}>
          <strong>API reference</strong>
          <span className="quiet">Read about every call, field and error, and try the calls.</span>
        </a>
      </section>
    </Page>
  );
}
