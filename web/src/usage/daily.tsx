import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { accounts, type DayUsage } from "../api";
import { ErrorNote } from "../errors";
import { count } from "../format";
import { Loading } from "../parts/page";
import { ScrollRegion } from "../parts/scroll-region";
import { DayPlot } from "./day-plot";

const SPANS = [7, 30, 90];

/** Shows usage by day. */
export function Daily() {
  const [span, setSpan] = useState(30);
  const { data, error } = useQuery(accounts.getUsage, { days: span });
  const days = data?.days ?? [];
  return (
    <>
      <section className="card stack" aria-labelledby="daily">
        <div className="quota-head">
          <h2 id="daily">Calls per day</h2>
          <fieldset className="segments">
            <legend className="unseen">Days shown</legend>
            {SPANS.map((days) => (
              <label key={days}>
                <input type="radio" name="span" checked={span === days} onChange={() => setSpan(days)} />
                {days} days
              </label>
            ))}
          </fieldset>
        </div>
        <ErrorNote error={error} />
        {!data && !error && <Loading />}
        {data && <DayPlot days={days} />}
        {data && <DayTable days={days} />}
      </section>
      {data && <Tokens days={days} span={span} />}
    </>
  );
}

function Tokens({ days, span }: { days: readonly DayUsage[]; span: number }) {
  const sum = (pick: (day: DayUsage) => number) => days.reduce((total, day) => total + pick(day), 0);
  return (
    <section className="card" aria-labelledby="tokens">
      <h2 id="tokens">Tokens, last {span} days</h2>
      <div className="figures">
        <p>
          <strong className="figure">{count(sum((day) => day.tokensStored))}</strong> <span>stored</span>
        </p>
        <p>
          <strong className="figure">{count(sum((day) => day.tokensQueried))}</strong> <span>queried</span>
        </p>
      </div>
    </section>
  );
}

/** Shows the plot's exact figures as a table, also for screen readers. */
function DayTable({ days }: { days: readonly DayUsage[] }) {
  const used = days.filter((day) => day.stores + day.recalls > 0).reverse();
  return (
    <details>
      <summary>Show as a table</summary>
      {used.length === 0 && <p className="quiet">There were no calls in these days.</p>}
      {used.length > 0 && (
        <ScrollRegion label="Usage by day">
          <table>
            <caption className="unseen">Usage by day, newest first, without days that have no calls</caption>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                <th scope="col">Stores</th>
                <th scope="col">Recalls</th>
                <th scope="col">Tokens stored</th>
                <th scope="col">Tokens queried</th>
              </tr>
            </thead>
            <tbody>
              {used.map((day) => (
                <tr key={day.date}>
                  <th scope="row">{day.date}</th>
                  <td>{count(day.stores)}</td>
                  <td>{count(day.recalls)}</td>
                  <td>{count(day.tokensStored)}</td>
                  <td>{count(day.tokensQueried)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </details>
  );
}
