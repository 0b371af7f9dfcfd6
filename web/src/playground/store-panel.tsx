import { useMutation } from "@connectrpc/connect-query";
import type { FormEvent } from "react";
import { memories } from "../api";
import { ErrorNote } from "../errors";
import { counted } from "../format";
import { Icon } from "../parts/icon";
import { linkTo } from "../route";
import { refresh, refreshMemories } from "../session/refresh";
import { AsCurl } from "./as-curl";
import { useKept } from "./kept";
import { parseMetadata } from "./metadata";
import { useTimed } from "./timed";

export function StorePanel({ namespace }: { namespace: string }) {
  const [text, setText] = useKept("text", "");
  const [json, setJson] = useKept("json", "");
  const { ms, timed } = useTimed();
  const store = useMutation(memories.store, {
    onSuccess: () => {
      setText("");
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
      <div className="field">
        <label htmlFor="text">Text</label>
        <textarea
          id="text"
          required
          rows={4}
          placeholder="Ada prefers tea over coffee, and never before ten."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <details>
        <summary>Metadata</summary>
        <div className="field">
          <label htmlFor="metadata">A JSON object that is returned with the memory</label>
          <textarea
            id="metadata"
            className="mono"
            rows={3}
            placeholder='{"user": "ada"}'
            spellCheck={false}
            aria-invalid={typeof metadata === "string"}
            aria-describedby="metadata-problem"
            value={json}
            onChange={(event) => setJson(event.target.value)}
          />
          <p id="metadata-problem" className="problem" aria-live="polite">
            {typeof metadata === "string" && metadata}
          </p>
        </div>
      </details>
      <button type="submit" disabled={store.isPending}>
        {store.isPending ? "Storing…" : "Store"}
      </button>
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
