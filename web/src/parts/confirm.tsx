import { type FormEvent, type ReactNode, useId, useState } from "react";
import { ErrorNote } from "../errors";
import { whileBusy } from "./busy";
import { Dialog } from "./dialog";

export interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Label of the button. It names the action and is never "OK". */
  readonly action: string;
  /** Text that the user must type first, for actions with large effects. */
  readonly typed?: string;
  readonly busy: boolean;
  readonly error: unknown;
  onConfirm(): void;
  onClose(): void;
}

/** Asks for confirmation of an action that cannot be undone. */
export function Confirm({ title, children, action, typed, busy, error, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState("");
  const field = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form method="post" onSubmit={submit} className="stack">
        <div className="stack">{children}</div>
        {typed !== undefined && (
          <div className="field">
            <label htmlFor={field}>
              Type{" "}
              <code className="clip">
                <bdi>{typed}</bdi>
              </code>{" "}
              to confirm
            </label>
            <input
              id={field}
              value={text}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        )}
        <ErrorNote error={error} />
        <div className="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="button-danger"
            disabled={typed !== undefined && text !== typed}
            {...whileBusy(busy)}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
