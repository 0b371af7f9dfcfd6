import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { memories } from "../api";
import { Page } from "../parts/page";
import { useKept } from "./kept";
import { RecallPanel } from "./recall-panel";
import { StorePanel } from "./store-panel";

/** Page of `#/playground` and `#/playground/<namespace>`. */
export function PlaygroundPage({ rest: [given = ""] }: { rest: readonly string[] }) {
  const [typed, setNamespace] = useKept("namespace", given || "quickstart");
  // An address with a namespace opens that one.
  const [opened, setOpened] = useState(given);
  const namespace = opened || typed;
  const { data } = useQuery(memories.listNamespaces, { pageSize: 100 }, { retry: false });
  return (
    <Page
      title="Playground"
      intro="Store and recall memories. Each successful store or recall costs one call of your plan."
    >
      <div className="field field-short">
        <label htmlFor="namespace">Namespace</label>
        <input
          id="namespace"
          list="namespaces"
          autoComplete="off"
          spellCheck={false}
          value={namespace}
          onChange={(event) => {
            setOpened("");
            setNamespace(event.target.value);
          }}
        />
        <datalist id="namespaces">
          {data?.namespaces.map(({ namespace: name }) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      <div className="playground">
        <RecallPanel namespace={namespace} />
        <StorePanel namespace={namespace} />
      </div>
    </Page>
  );
}
