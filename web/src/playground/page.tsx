import { useState } from "react";
import { OpenMemory } from "../memories/open-memory";
import { KeyNote, READ_ONLY } from "../parts/key-note";
import { Page } from "../parts/page";
import { closeTo } from "../route";
import { languagesOf, useModel } from "../session/model";
import { useRights } from "../session/rights";
import { NAMESPACE } from "../start/samples";
import { NamespaceField } from "./namespace-field";
import { RecallPanel } from "./recall-panel";
import { useRemembered } from "./remembered";
import { StorePanel } from "./store-panel";

/** Page of `#/playground`, `#/playground/<namespace>` and `#/playground/<namespace>/<memory>`. */
export function PlaygroundPage({ rest: [given = "", opened] }: { rest: readonly string[] }) {
  const { writes, readsOnly, namespace: only } = useRights();
  const [typed, setTyped] = useRemembered("namespace", given || NAMESPACE);
  // An address with a namespace opens that one.
  const [followed, setFollowed] = useState(given);
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const namespace = only ?? (followed || typed);
  const choose = (next: string) => {
    setFollowed("");
    setTyped(next);
  };
  const model = useModel();
  const languages = model && languagesOf(model);
  const intro = [
    readsOnly ? "Recall memories." : "Store and recall memories.",
    "Each success costs one call of your plan.",
    ...(languages ? [`The model reads ${languages}.`] : []),
  ];
  return (
    <Page title="Playground" intro={intro.join(" ")}>
      <NamespaceField namespace={namespace} only={only} onChange={choose} />
      <div className="playground">
        <RecallPanel namespace={namespace} deleted={deleted} />
        {writes && <StorePanel namespace={namespace} />}
        {readsOnly && (
          <KeyNote title={READ_ONLY}>It cannot store. For that, sign in with a key with full access.</KeyNote>
        )}
      </div>
      {opened && (
        <OpenMemory
          key={opened}
          namespace={given}
          id={opened}
          onDeleted={() => setDeleted((before) => [...before, opened])}
          onClose={() => closeTo("playground", given)}
        />
      )}
    </Page>
  );
}
