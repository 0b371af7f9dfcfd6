import { useQuery } from "@connectrpc/connect-query";
import { accounts } from "../api";
import { ErrorNote, QuotaNote } from "../errors";
import { count, counted, dateTime, UNLIMITED_CALLS } from "../format";
import { Gauge, WARN_FROM } from "../parts/gauge";
import { Icon } from "../parts/icon";
import { Loading, Page } from "../parts/page";
import { Daily } from "./daily";

export function UsagePage() {
  const { data: account, error } = useQuery(accounts.getAccount, {});
  return (
    <Page title="Usage" intro="What this account has used of its plan.">
      <ErrorNote error={error} />
      {!account && !error && <Loading />}
      {account && (
        <>
          <Quota used={account.callsUsed} limit={account.callsLimit} plan={account.plan} />
          <Daily />
          <section className="card">
            <h2>Account</h2>
            <dl className="facts">
              <dt>Account</dt>
              <dd className="mono">{account.accountId}</dd>
              <dt>Email</dt>
              <dd>{account.email || <span className="quiet">none given</span>}</dd>
              <dt>Opened</dt>
              <dd>{dateTime(account.createdAt)}</dd>
            </dl>
          </section>
        </>
      )}
    </Page>
  );
}

function Quota({ used, limit, plan }: { used: number; limit: number; plan: string }) {
  const left = Math.max(limit - used, 0);
  const unlimited = limit === UNLIMITED_CALLS;
  return (
    <section className="card stack" aria-labelledby="quota">
      <div className="quota-head">
        <h2 id="quota">Calls</h2>
        <span className="badge">{plan} plan</span>
      </div>
      <div className="figures">
        <p>
          <strong className="figure">{count(used)}</strong>{" "}
          <span>{unlimited ? "used, of as many as you like" : `of ${count(limit)} used`}</span>
        </p>
        {!unlimited && (
          <p>
            <strong className="figure">{count(left)}</strong> <span>left</span>
          </p>
        )}
      </div>
      {!unlimited && <Gauge used={used} limit={limit} label="Calls used of the plan" />}
      <p className="hint">
        A successful store or recall is one call. Everything else, and every call that fails, is free.
      </p>
      {left === 0 && limit > 0 && <QuotaNote />}
      {left > 0 && used >= limit * WARN_FROM && (
        <div className="note note-warn" role="status">
          <Icon name="alert" />
          <div>
            <strong>{counted(left, "call is", "calls are")} left</strong>
            <p>When they are used, storing and recalling stop. Reading and deleting go on.</p>
          </div>
        </div>
      )}
    </section>
  );
}
