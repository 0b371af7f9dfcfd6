import { Dialog } from "../parts/dialog";
import { markSaved } from "../session/session";
import { FirstCall } from "./first-call";
import { KeyBox } from "./key-box";
import { QuickStart } from "./quick-start";
import { Saved } from "./saved";

/** Shows a new account's key once, next to the first steps with it. */
export function Reveal({ apiKey }: { apiKey: string }) {
  return (
    <Dialog title="Your key is ready" className="dialog-wide">
      <div className="reveal">
        <section className="stack" aria-labelledby="reveal-save">
          <h3 id="reveal-save">
            <span className="step">1</span> Save it now
          </h3>
          <p>
            The key is shown <strong>only once</strong>. We keep only a hash of it: if you lose it, you lose
            the account and its memories.
          </p>
          <KeyBox apiKey={apiKey} />
          <Saved action="Continue" onSaved={markSaved} />
        </section>
        <section className="stack" aria-labelledby="reveal-try">
          <h3 id="reveal-try">
            <span className="step">2</span> Make your first call
          </h3>
          <QuickStart apiKey={apiKey} />
          <FirstCall />
        </section>
      </div>
    </Dialog>
  );
}
