import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { accounts, type GetAccountResponse } from "../api";
import { ErrorNote } from "../errors";
import { dateTime } from "../format";
import { Loading, Page } from "../parts/page";
import { languagesOf } from "../session/model";
import { rightsOf } from "../session/rights";
import { CloseAccount } from "./close-account";

export function AccountPage() {
  const { data: account, error } = useQuery(accounts.getAccount, {});
  return (
    <Page title="Account" intro="Account details.">
      <ErrorNote error={error} />
      {!account && !error && <Loading />}
      {account && <Facts account={account} />}
      {account?.key && rightsOf(account.key).manages && <Closing />}
    </Page>
  );
}

function Facts({ account: { accountId, email, plan, createdAt, model } }: { account: GetAccountResponse }) {
  return (
    <section className="card">
      <h2>Facts</h2>
      <dl className="facts">
        <dt>Account</dt>
        <dd>
          <code>{accountId}</code>
        </dd>
        <dt>Email</dt>
        <dd>{email || <span className="quiet">none given</span>}</dd>
        <dt>Plan</dt>
        <dd>{plan}</dd>
        <dt>Opened</dt>
        <dd>{dateTime(createdAt)}</dd>
        {model && (
          <>
            <dt>Model</dt>
            <dd>
              <span className="mono">{model.id}</span>
              {languagesOf(model) && `, reads ${languagesOf(model)}`}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Closing() {
  const [open, setOpen] = useState(false);
  return (
    <section className="card danger-zone">
      <div>
        <h2>Close the account</h2>
        <p className="quiet">
          Closing the account revokes every key and deletes every memory. This cannot be undone.
        </p>
      </div>
      <button type="button" className="button-danger-quiet" onClick={() => setOpen(true)}>
        Close account
      </button>
      {open && <CloseAccount onClose={() => setOpen(false)} />}
    </section>
  );
}
