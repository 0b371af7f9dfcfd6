import { useId, useRef } from "react";
import { CopyButton } from "../code/copy";
import { Icon } from "../parts/icon";
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
            rows={2}
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
  return (
    <button type="button" aria-label={`Download as ${label}`} onClick={() => save(name, text)}>
      <Icon name="download" /> {label}
    </button>
  );
}

function envOf(apiKey: string): string {
  return `RECALLD_URL=${SERVICE_URL}\nRECALLD_API_KEY=${apiKey}\n`;
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers read the blob only after the click returns, so it is released later.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
