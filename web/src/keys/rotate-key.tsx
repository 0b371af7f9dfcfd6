import { useMutation } from "@connectrpc/connect-query";
import { type FormEvent, useState } from "react";
import { accounts, type CreateKeyResponse, type Key } from "../api";
import { ErrorNote } from "../errors";
import { whileBusy } from "../parts/busy";
import { Dialog } from "../parts/dialog";
import { refresh } from "../session/refresh";
import { nameOf } from "./key-table";

const GRACES: readonly (readonly [seconds: number, name: string])[] = [
  [0, "stops at once"],
  [300, "works for 5 more minutes"],
  [3_600, "works for 1 more hour"],
  [86_400, "works for 24 more hours"],
];

export interface RotateKeyProps {
  readonly keyToRotate: Key;
  onMade(made: CreateKeyResponse): void;
  onClose(): void;
}

/** Replaces a key with a new one without downtime. */
export function RotateKey({ keyToRotate, onMade, onClose }: RotateKeyProps) {
  const [graceSeconds, setGraceSeconds] = useState(3_600);
  const rotate = useMutation(accounts.createKey, {
    onSuccess: (made) => {
      refresh("keys");
      onMade(made);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotate.mutate({ name: keyToRotate.name, replaces: keyToRotate.id, graceSeconds });
  };
  return (
    <Dialog title="Rotate a key" onClose={onClose}>
      <form method="post" className="stack" onSubmit={submit}>
        <p>
          You get a new key with the same rights as <strong className="clip">{nameOf(keyToRotate)}</strong>.
          The old key keeps working until you first use the new one.
        </p>
        <div className="field">
          <label htmlFor="grace">From then on, the old key</label>
          <select
            id="grace"
            value={graceSeconds}
            onChange={(event) => setGraceSeconds(Number(event.target.value))}
          >
            {GRACES.map(([seconds, name]) => (
              <option key={seconds} value={seconds}>
                {name}
              </option>
            ))}
          </select>
        </div>
        {keyToRotate.current && (
          <p className="hint">
            This browser is signed in with the old key, and is signed out when that ends.
          </p>
        )}
        <ErrorNote error={rotate.error} />
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button-main" {...whileBusy(rotate.isPending)}>
            Create the new key
          </button>
        </div>
      </form>
    </Dialog>
  );
}
