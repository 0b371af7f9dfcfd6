import { useMutation } from "@connectrpc/connect-query";
import type { FormEvent } from "react";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { whileBusy } from "../parts/busy";
import { MetadataField, TextField } from "../parts/fields";
import { Icon } from "../parts/icon";
import { LanguageHint } from "../parts/language-hint";
import { OptionalFields } from "../parts/optional-fields";
import { linkTo } from "../route";
import { refresh, refreshMemories } from "../session/refresh";
import { AsCurl } from "./as-curl";
import { parseMetadata } from "./metadata";
import { useRemembered } from "./remembered";
import { useTimed } from "./timed";

export function StorePanel({ namespace }: { namespace: string }) {
  const [text, setText] = useRemembered("text", "");
  const [json, setJson] = useRemembered("json", "");
  const { ms, timed } = useTimed();
  const store = useMutation(memories.store, {
    onSuccess: (_, sent) => {
      // On a slow network one may have typed the next text meanwhile.
      if (text === sent.text) setText("");
      refresh("account", "usage");
      refreshMemories();
    },
    onSettled: timed.end,
  });
  const metadata = parseMetadata(json);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof metadata === "string") return;
    timed.start();
    store.mutate({ text, namespace, ...(metadata && { metadata }) });
  };
  return (
    <form method="post" className="card stack" onSubmit={submit}>
      <h2>Store</h2>
      <TextField
        id="text"
        label="Text"
        placeholder="Ada prefers tea over coffee, and never before ten."
        value={text}
        onChange={setText}
      />
      <LanguageHint text={text} />
      <OptionalFields summary="Metadata">
        <MetadataField
          id="metadata"
          label="A JSON object that is returned with the memory"
          placeholder='{"user": "ada"}'
          parsed={metadata}
          value={json}
          onChange={setJson}
        />
      </OptionalFields>
      <div className="actions">
        <button type="submit" className="button-main" {...whileBusy(store.isPending)}>
          {store.isPending ? "Storing…" : "Store"}
        </button>
      </div>
      <ErrorNote error={store.error} />
      <div aria-live="polite">
        {store.data && (
          <div className="note note-good">
            <Icon name="check" />
            <div>
              <strong>Stored</strong> in{" "}
              <a href={linkTo("memories", store.data.namespace)}>{store.data.namespace}</a>
              <p className="quiet">
                {counted(store.data.tokens, "token")} · {ms} ms · <code>{store.data.id}</code>
              </p>
            </div>
          </div>
        )}
      </div>
      <AsCurl
        path="/store"
        body={{ text: text || "…", namespace, ...(typeof metadata === "object" && { metadata }) }}
      />
    </form>
  );
}
