import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { accounts, type CreateKeyResponse, type Key } from "../api";
import { ErrorNote } from "../errors";
import { Icon } from "../parts/icon";
import { Loading, Page } from "../parts/page";
import { useRemembered } from "../playground/remembered";
import { useRights } from "../session/rights";
import { CreateKey } from "./create-key";
import { KeyTable } from "./key-table";
import { NewKey } from "./new-key";
import { OwnKey } from "./own-key";
import { RevokeKey } from "./revoke-key";
import { RotateKey } from "./rotate-key";
import { SessionTable } from "./session-table";

type Open = { readonly what: "create" } | { readonly what: "rotate" | "revoke"; readonly key: Key };

export function KeysPage() {
  const rights = useRights();
  const { key, manages } = rights;
  if (key && !manages) return <OwnKey apiKey={key} rights={rights} />;
  return manages ? <AllKeys /> : <Loading />;
}

/** True if nobody can sign in without a key. Those of applications sign nobody in. */
function isLast(key: Key, keys: readonly Key[]): boolean {
  return key.client === "" && keys.every(({ id, client }) => id === key.id || client !== "");
}

/** Page of a key that may manage the others. */
function AllKeys() {
  const [open, setOpen] = useState<Open>();
  // Keys and sessions change elsewhere, and are here to be checked.
  const { data, error } = useQuery(accounts.listKeys, {}, { staleTime: 0 });
  const close = () => setOpen(undefined);
  // A new key cannot be shown again, so Back must not lose it.
  const [made, setMade] = useRemembered<CreateKeyResponse | undefined>("made", undefined);
  const onMade = (next: CreateKeyResponse) => {
    close();
    setMade(next);
  };
  return (
    <Page
      title="API keys"
      intro="Give each application its own key, so that you can revoke one without the others."
      actions={
        <button type="button" className="button-main" onClick={() => setOpen({ what: "create" })}>
          <Icon name="plus" /> Create key
        </button>
      }
    >
      <ErrorNote error={error} />
      {!data && !error && <Loading />}
      {data && (
        <KeyTable
          keys={data.keys}
          onRotate={(key) => setOpen({ what: "rotate", key })}
          onRevoke={(key) => setOpen({ what: "revoke", key })}
        />
      )}
      {data && <SessionTable keys={data.keys} />}
      {open?.what === "create" && <CreateKey onMade={onMade} onClose={close} />}
      {open?.what === "rotate" && <RotateKey keyToRotate={open.key} onMade={onMade} onClose={close} />}
      {open?.what === "revoke" && (
        <RevokeKey keyToRevoke={open.key} isLast={isLast(open.key, data?.keys ?? [])} onClose={close} />
      )}
      {made && <NewKey made={made} onClose={() => setMade(undefined)} />}
    </Page>
  );
}
