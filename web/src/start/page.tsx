import { Page } from "../parts/page";
import { linkTo } from "../route";
import { useRights } from "../session/rights";
import { useSession } from "../session/session";
import { FirstSteps } from "./first-steps";

export function QuickStartPage() {
  const { unsaved } = useSession();
  const { readsOnly, manages } = useRights();
  const intro = readsOnly
    ? "Recall memories with your key."
    : "Store four memories and find the right one by its meaning, with your key.";
  return (
    <Page title="Quick start" intro={intro}>
      {/* While the dialog reveals the key, it shows the same steps. */}
      {!unsaved && <FirstSteps />}
      <section className="next">
        <a className="card" href={linkTo("playground")}>
          <strong>Playground</strong>
          <span className="quiet">
            {readsOnly ? "Recall" : "Store and recall"} from a form, and see the scores.
          </span>
        </a>
        {manages && (
          <a className="card" href={linkTo("keys")}>
            <strong>API keys</strong>
            <span className="quiet">
              Create a key for each application. A key can be read-only or limited to one namespace.
            </span>
          </a>
        )}
        <a className="card" href="docs/">
          <strong>Docs</strong>
          <span className="quiet">Read how to filter, retry, choose a model and run a server.</span>
        </a>
        <a className="card" href={linkTo("reference")}>
          <strong>API reference</strong>
          <span className="quiet">Read about every call, field and error, and try the calls.</span>
        </a>
      </section>
    </Page>
  );
}
