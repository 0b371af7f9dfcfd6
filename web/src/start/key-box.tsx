import { useId, useRef } from "react";
import { CopyButton } from "../code/copy";
import { Icon } from "../parts/icon";
import { save } from "../parts/save";
import { SERVICE_URL } from "../session/client";

/** Shows a new key to copy or download. It cannot be shown again. */
export function KeyBox({ apiKey }: { apiKey: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  return (
    <div className="stack key-box">
      <div className="field">
        <label htmlFor={id}>Your API key</label>
        <div className="key-line">
          <textarea
            ref={field}
            rows={3}
            id={id}
            className="mono"
            readOnly
            value={apiKey}
            spellCheck={false}
            onFocus={(event) => event.target.select()}
          />
          <CopyButton text={apiKey} what="key" label="Copy" className="button-main" source={field} />
        </div>
      </div>
      <div className="actions">
        <Download name="recalld.env" text={envOf(apiKey)} label=".env" />
        <Download name="recalld-key.txt" text={`${apiKey}\n`} label=".txt" />
      </div>
    </div>
  );
}

function Download({ name, text, label }: { name: string; text: string; label: string }) {
  const file = new Blob([text], { type: "text/plain" });
  return (
    <button type="button" aria-label={`Download as ${label}`} onClick={() => save(name, file)}>
      <Icon name="download" /> {label}
    </button>
  );
}

function envOf(apiKey: string): string {
  return `RECALLD_URL=${SERVICE_URL}\nRECALLD_API_KEY=${apiKey}\n`;
}
