import { useMutation } from "@connectrpc/connect-query";
import { accounts, type Key } from "../api";
import { Confirm } from "../parts/confirm";
import { refresh } from "../session/refresh";
import { leave } from "../session/sign-in";
import { nameOf } from "./key-table";

export interface RevokeKeyProps {
  readonly keyToRevoke: Key;
  /** True for the account's last key, without which the account cannot be reached. */
  readonly isLast: boolean;
  onClose(): void;
}

export function RevokeKey({ keyToRevoke, isLast, onClose }: RevokeKeyProps) {
  const revoke = useMutation(accounts.revokeKey, {
    onSuccess: () => {
      onClose();
      if (keyToRevoke.current) {
        leave({
          title: "You were signed out",
          text: "You revoked the key that this browser was signed in with.",
        });
      } else refresh("keys");
    },
  });
  return (
    <Confirm
      title="Revoke a key"
      action="Revoke key"
      {...(isLast && { typed: "revoke" })}
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ id: keyToRevoke.id, force: isLast })}
      onClose={onClose}
    >
      <p>
        <strong className="clip">
          <bdi>{nameOf(keyToRevoke)}</bdi>
        </strong>{" "}
        (<code>{keyToRevoke.prefix}…</code>): applications using this key stop working immediately.
      </p>
      {isLast && (
        <p className="note note-bad">
          This is the account's last key. Without it, you cannot sign in again or reach the memories.
        </p>
      )}
      {keyToRevoke.current && !isLast && <p>This browser uses the key too and will be signed out.</p>}
    </Confirm>
  );
}
