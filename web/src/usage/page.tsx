import { useQuery } from "@connectrpc/connect-query";
import { accounts } from "../api";
import { ErrorNote, QuotaNote } from "../errors";
import { count, counted, UNLIMITED_CALLS } from "../format";
import { Gauge, WARN_FROM } from "../parts/gauge";
import { Icon } from "../parts/icon";
import { Loading, Page } from "../parts/page";
import { OverTime } from "./over-time";
import { Shares } from "./shares";

export function UsagePage() {
  const { data: account, error } = useQuery(accounts.getAccount, {});
  return (
    <Page title="Usage" intro="This page shows how much of its plan this account has used.">
      <ErrorNote error={error} />
      {!account && !error && <Loading />}
      {account && (
        <>
          <Quota used={account.callsUsed} limit={account.callsLimit} plan={account.plan} />
          <OverTime createdAt={account.createdAt} />
          <Shares />
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
          <span>{unlimited ? "used; your plan has no limit" : `of ${count(limit)} used`}</span>
        </p>
        {!unlimited && (
          <p>
            <strong className="figure">{count(left)}</strong> <span>left</span>
          </p>
        )}
      </div>
      {!unlimited && <Gauge used={used} limit={limit} label="Calls used of the plan" />}
      <p className="hint">
        Each successful store or recall counts as one call. All other calls, and calls that fail, are free.
      </p>
      {left === 0 && <QuotaNote />}
      {left > 0 && used >= limit * WARN_FROM && (
        <div className="note note-warn" role="status">
          <Icon name="alert" />
          <div>
            <strong>{counted(left, "call is", "calls are")} left</strong>
            <p>After that, you can no longer store or recall. You can still read and delete.</p>
          </div>
        </div>
      )}
    </section>
  );
}
