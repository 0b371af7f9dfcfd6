import { useMutation, useQuery } from "@connectrpc/connect-query";
import { accounts } from "../api";
import { counted } from "../format";
import { Confirm } from "../parts/confirm";
import { leave } from "../session/sign-in";

export function CloseAccount({ onClose }: { onClose(): void }) {
  const { data: account } = useQuery(accounts.getAccount, {});
  const close = useMutation(accounts.closeAccount, {
    onSuccess: ({ deleted }) => {
      const text = `${counted(deleted, "memory was", "memories were")} deleted, and no key works any more.`;
      leave({ title: "The account is closed", text });
    },
  });
  const accountId = account?.accountId ?? "";
  return (
    <Confirm
      title="Close the account"
      action="Close account and delete everything"
      typed="close my account"
      busy={close.isPending || !account}
      error={close.error}
      onConfirm={() => close.mutate({ accountId })}
      onClose={onClose}
    >
      <p>
        All keys stop working immediately, and all memories in all namespaces are deleted. This cannot be
        undone.
      </p>
    </Confirm>
  );
}
