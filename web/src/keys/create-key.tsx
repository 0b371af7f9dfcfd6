import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { accounts, type CreateKeyResponse, KeyAccess } from "../api";
import { ErrorNote } from "../errors";
import { whileBusy } from "../parts/busy";
import { Dialog } from "../parts/dialog";
import { refresh } from "../session/refresh";

const DAY_SECONDS = 86_400n;
const EXPIRIES: readonly (readonly [days: number, text: string])[] = [
  [0, "never"],
  [7, "in 7 days"],
  [30, "in 30 days"],
  [90, "in 90 days"],
  [365, "in a year"],
];

export function CreateKey({ onMade, onClose }: { onMade(made: CreateKeyResponse): void; onClose(): void }) {
  const [name, setName] = useState("");
  const [access, setAccess] = useState(KeyAccess.FULL);
  const [namespace, setNamespace] = useState("");
  const [days, setDays] = useState(0);
  const create = useMutation(accounts.createKey, {
    onSuccess: (made) => {
      refresh("keys");
      onMade(made);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const ttl = { seconds: BigInt(days) * DAY_SECONDS };
    create.mutate({ name, access, namespace, ...(days > 0 && { expiry: { case: "ttl", value: ttl } }) });
  };
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <form method="post" className="stack" onSubmit={submit}>
        <div className="field">
          <label htmlFor="key-name">Name</label>
          <input
            id="key-name"
            required
            maxLength={64}
            autoComplete="off"
            placeholder="production agent"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <fieldset className="choices">
          <legend>This key may</legend>
          <label>
            <input
              type="radio"
              name="access"
              checked={access === KeyAccess.FULL}
              onChange={() => setAccess(KeyAccess.FULL)}
            />
            <span>
              <strong>Do everything</strong>
              <span className="hint">Store, recall, delete, manage keys.</span>
            </span>
          </label>
          <label>
            <input
              type="radio"
              name="access"
              checked={access === KeyAccess.READ_ONLY}
              onChange={() => setAccess(KeyAccess.READ_ONLY)}
            />
            <span>
              <strong>Only read</strong>
              <span className="hint">Recall, read and list.</span>
            </span>
          </label>
        </fieldset>
        <div className="field">
          <label htmlFor="key-namespace">
            Only in namespace <span className="quiet">(optional)</span>
          </label>
          <input
            id="key-namespace"
            autoComplete="off"
            placeholder="all namespaces"
            value={namespace}
            onChange={(event) => setNamespace(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="key-expiry">Expires</label>
          <select id="key-expiry" value={days} onChange={(event) => setDays(Number(event.target.value))}>
            {EXPIRIES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <ErrorNote error={create.error} />
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button-main" {...whileBusy(create.isPending)}>
            Create key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
